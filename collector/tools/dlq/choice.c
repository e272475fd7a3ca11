#include "collector/tools/dlq/choice.h"

#include <stdio.h>
#include <string.h>

static bool read_range(char *text, struct choice_range *ret)
{
	struct choice_range range = {.partition = -1};
	char *colon = strchr(text, ':'), *dash;
	uint64_t partition;

	if (colon) {
		*colon = '\0';
		if (!letter_number(text, &partition) || partition > INT32_MAX)
			return false;
		range.partition = (int32_t)partition;
		text = colon + 1;
	}
	dash = strchr(text, '-');
	if (dash)
		*dash = '\0';
	if (!letter_number(text, &range.first))
		return false;
	range.last = range.first;
	if (dash && !letter_number(dash + 1, &range.last))
		return false;
	*ret = range;
	return range.first <= range.last;
}

static int refuse(const char *text, size_t len, struct error *err)
{
	return error_set(err, ERROR_USAGE,
			 "--offset: '%.*s': expected OFFSET, FIRST-LAST or "
			 "PARTITION:FIRST-LAST",
			 len < 60 ? (int)len : 60, text);
}

int choice_read_offsets(struct choice *c, const char *text, struct error *err)
{
	char part[64];
	size_t len;

	for (;; text += len + 1) {
		len = strcspn(text, ",");
		if (len >= sizeof(part))
			return refuse(text, len, err);
		if (c->range_count == CHOICE_RANGES_MAX)
			return error_set(err, ERROR_USAGE,
					 "--offset: more than %d ranges",
					 CHOICE_RANGES_MAX);
		memcpy(part, text, len);
		part[len] = '\0';
		if (!read_range(part, &c->ranges[c->range_count]))
			return refuse(text, len, err);
		c->range_count++;
		if (!text[len])
			return 0;
	}
}

static bool is_in(const struct choice_range *r, const struct letter *letter)
{
	uint64_t offset = (uint64_t)letter->at_offset;

	return (r->partition < 0 || r->partition == letter->at_partition) &&
	       offset >= r->first && offset <= r->last;
}

bool choice_takes(const struct choice *c, const struct letter *letter)
{
	bool in_range = c->range_count == 0;

	if (letter->kind != LETTER_DEAD || letter->time_ms < c->from ||
	    letter->time_ms >= c->to)
		return false;
	if (c->reason && !strstr(letter->reason, c->reason))
		return false;
	for (size_t i = 0; !in_range && i < c->range_count; i++)
		in_range = is_in(&c->ranges[i], letter);
	return in_range;
}
