#include "collector/tools/dlq/dlq_filter.h"

#include <stdio.h>
#include <string.h>

static bool read_range(char *text, struct dlq_filter_range *ret)
{
	struct dlq_filter_range range = {.partition = -1};
	char *colon = strchr(text, ':'), *dash;
	uint64_t partition;

	if (colon) {
		*colon = '\0';
		if (!dlq_record_number(text, &partition) ||
		    partition > INT32_MAX)
			return false;
		range.partition = (int32_t)partition;
		text = colon + 1;
	}
	dash = strchr(text, '-');
	if (dash)
		*dash = '\0';
	if (!dlq_record_number(text, &range.first))
		return false;
	range.last = range.first;
	if (dash && !dlq_record_number(dash + 1, &range.last))
		return false;
	*ret = range;
	return range.first <= range.last;
}

static int refuse_offsets(const char *text, size_t len, struct error *err)
{
	return error_set(err, ERROR_USAGE,
			 "--offset: '%.*s': expected OFFSET, FIRST-LAST or "
			 "PARTITION:FIRST-LAST",
			 len < 60 ? (int)len : 60, text);
}

int dlq_filter_read_offsets(struct dlq_filter *f, const char *text,
			    struct error *err)
{
	char part[64];
	size_t len;

	for (;; text += len + 1) {
		len = strcspn(text, ",");
		if (len >= sizeof(part))
			return refuse_offsets(text, len, err);
		if (f->range_count == DLQ_FILTER_RANGES_MAX)
			return error_set(err, ERROR_USAGE,
					 "--offset: more than %d ranges",
					 DLQ_FILTER_RANGES_MAX);
		memcpy(part, text, len);
		part[len] = '\0';
		if (!read_range(part, &f->ranges[f->range_count]))
			return refuse_offsets(text, len, err);
		f->range_count++;
		if (!text[len])
			return 0;
	}
}

static bool is_in(const struct dlq_filter_range *r,
		  const struct dlq_record *record)
{
	uint64_t offset = (uint64_t)record->at_offset;

	return (r->partition < 0 || r->partition == record->at_partition) &&
	       offset >= r->first && offset <= r->last;
}

bool dlq_filter_takes(const struct dlq_filter *f,
		      const struct dlq_record *record)
{
	bool in_range = f->range_count == 0;

	if (record->kind != DLQ_LETTER || record->time_ms < f->from ||
	    record->time_ms >= f->to)
		return false;
	if (f->reason && !strstr(record->reason, f->reason))
		return false;
	for (size_t i = 0; !in_range && i < f->range_count; i++)
		in_range = is_in(&f->ranges[i], record);
	return in_range;
}
