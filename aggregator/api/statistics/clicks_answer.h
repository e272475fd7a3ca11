/*
 * clicks_answer.h - the answer to GET /v1/clicks, written as JSON or CSV.
 */
#ifndef AGGREGATOR_API_STATISTICS_CLICKS_ANSWER_H
#define AGGREGATOR_API_STATISTICS_CLICKS_ANSWER_H

#include <jansson.h>

#include "aggregator/api/call.h"
#include "aggregator/api/links/archive.h"
#include "aggregator/api/statistics/counts.h"
#include "aggregator/api/statistics/question.h"
#include "common/buf.h"

struct group {
	char *value;  /* owned */
	char *second; /* owned; the second dimension's, "" without one */
	struct counts counts;
};

struct clicks_answer {
	struct archived_link link; /* link_id 0: all links */
	struct buckets buckets;
	struct counts *data; /* one per bucket */
	struct counts total;
	struct group *groups; /* busiest first */
	size_t group_count;
	bool lower_bound;    /* true: hours left values out of groups */
	double unique_error; /* error of visitors and ips; 0: they are exact */
	int64_t complete_until; /* ms; 0: not known */
	bool waits; /* stored clicks of the range may not be counted yet */
};

void clicks_answer_release(struct clicks_answer *a);

/* Clears the groups before an answer is fetched again. */
void clicks_answer_clear_groups(struct clicks_answer *a);

/* NULL when out of memory. */
json_t *clicks_to_json(const struct question *q, const struct clicks_answer *a);
void clicks_to_csv(const struct question *q, const struct clicks_answer *a,
		   struct buf *out);

#endif
