/*
 * Any bytes as the query string of /v1/clicks: it is refused with a reason, or
 * what is read is within its limits, and each filter accepts exactly its own
 * values, or all but them.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/api/statistics/question.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int get_fixed_time(void *arg, int64_t *ret_ms, struct error *err)
{
	(void)arg;
	(void)err;
	*ret_ms = INT64_C(1795255620000);
	return 0;
}

static void check_filter(const struct filter *f)
{
	char value[FILTER_VALUE_MAX + 1];
	const char *line = f->values.data;
	const char *end = line + f->values.len;
	size_t count = 0;

	do {
		size_t len = strcspn(line, "\n");

		if (len > FILTER_VALUE_MAX || ++count > FILTER_VALUES_MAX)
			abort();
		memcpy(value, line, len);
		value[len] = '\0';
		if (filter_takes(f, value) == f->except)
			abort();
		line += len + 1;
	} while (line <= end);
	if (filter_takes(f, "\n") != f->except)
		abort();
}

static void check_comparison(const struct question *q)
{
	int64_t from, to;

	if (comparison_range(q->zone, q->compare, q->from, q->to, &from, &to) &&
	    (from < 0 || from >= to || to > q->to))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct aggregator_settings settings = {
		.groups_max = 50,
		.zoneinfo = (char[]){"/usr/share/zoneinfo"},
	};
	struct question q;
	struct error err = {0};

	if (question_parse(&q, (struct http_slice){(const char *)data, size},
			   ASK_LINK | ASK_RANGE | ASK_INTERVAL | ASK_GROUP |
				   ASK_BOTS | ASK_FORMAT | ASK_FILTER |
				   ASK_PAGE | ASK_PERIOD,
			   &settings, get_fixed_time, NULL, &err) < 0) {
		if (!*err.text)
			abort();
	} else {
		if (q.from >= q.to || q.limit < 1 || q.limit > 50 ||
		    q.group_by_count > GROUPS_BY_MAX ||
		    q.breakdown_count > BREAKDOWNS_MAX)
			abort();
		if (q.compare)
			check_comparison(&q);
		for (size_t i = 0; i < q.filters.count; i++)
			check_filter(&q.filters.items[i]);
	}
	question_release(&q);
	return 0;
}
