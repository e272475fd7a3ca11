/*
 * clicks_fetch.h - what GET /v1/clicks answers, from where it is answered
 * fastest: settled hours, copied days, or rows of `clicks`.
 */
#ifndef AGGREGATOR_API_CLICKS_FETCH_H
#define AGGREGATOR_API_CLICKS_FETCH_H

#include "aggregator/api/archive.h"
#include "aggregator/api/call.h"
#include "aggregator/api/counts.h"
#include "aggregator/api/question.h"
#include "aggregator/api/question_params.h"
#include "common/buf.h"
#include "common/error.h"

struct group {
	char *value;  /* owned */
	char *second; /* owned; of the second dimension, "" without one */
	struct counts counts;
};

struct clicks_answer {
	struct archived_link link; /* link_id 0: over all links */
	struct buckets buckets;
	struct counts *data; /* one a bucket */
	struct counts total;
	struct group *groups; /* busiest first */
	size_t group_count;
	double unique_error;	/* of visitors and ips; 0: counted one by one */
	int64_t complete_until; /* ms; 0: not known */
};

/* Fills in the answer, and the link that is asked for if the caller may see
 * it.  Release also after a failure. */
int clicks_fetch(struct call *call, const struct question *q,
		 struct clicks_answer *ret, struct error *err);
void clicks_answer_release(struct clicks_answer *a);

/* Runs a statement of clicks_sql.h and adds its rows to the answer. */
int clicks_fetch_run(struct call *call, struct buf *sql,
		     const struct question_params *n, struct clicks_answer *a,
		     struct error *err);

#endif
