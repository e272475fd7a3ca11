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
	char *url;    /* owned; of a group by `url`, NULL: not known */
	struct counts counts;
};

/* The groups of one dimension, or of a pair. */
struct grouping {
	struct group *groups; /* busiest first */
	size_t count;
	bool has_urls;	     /* the values are digests of URLs */
	bool lower_bound;    /* true: hours left values out */
	double unique_error; /* of a breakdown; see clicks_answer */
	struct counts total; /* counted with the groups of a breakdown */
	bool finished;
};

struct compared;

struct clicks_answer {
	struct archived_link link; /* link_id 0: all links */
	struct buckets buckets;
	struct counts *data; /* one per bucket */
	struct counts total;
	/* The first is that of `group_by`; or one for each breakdown. */
	struct grouping groupings[BREAKDOWNS_MAX];
	double unique_error; /* error of visitors and ips; 0: they are exact */
	int64_t complete_until; /* ms; 0: not known */
	int64_t from; /* of both ranges; what waits from there on is told */
	/* The range that the question is compared with; its link is that of
	 * this answer. */
	struct compared *compared; /* owned; NULL: none */
	bool of_rows;		   /* it has rows that are not settled yet */
	bool waits; /* stored clicks of the range may not be counted yet */
};

/* An answer about another range. */
struct compared {
	/* Its pointers are owned by the whole question.  Its limit of groups is
	 * greater, so that most values of the whole answer are among them. */
	struct question q;
	struct clicks_answer a;
	bool without_groups; /* the range has counts, and no groups */
	/* Why it has no counts; "": it has. */
	char unknown[sizeof(((struct error *)NULL)->text)];
};

void clicks_answer_release(struct clicks_answer *a);

/* Clears the groups before an answer is fetched again. */
void clicks_answer_clear_groups(struct clicks_answer *a);

/* Returns whether all clicks of the question's range are counted. */
bool clicks_answer_is_complete(const struct clicks_answer *a,
			       const struct question *q);

/* Sorts the groups by value, in place of their counts: those of a compared
 * range are found by it. */
void clicks_answer_sort_groups(struct clicks_answer *a);

/* Caps all estimates at the clicks that `mode` counts. */
void clicks_answer_cap(struct clicks_answer *a, enum bots_mode mode);

/* NULL when out of memory. */
json_t *clicks_to_json(const struct question *q, const struct clicks_answer *a);
void clicks_to_csv(const struct question *q, const struct clicks_answer *a,
		   struct buf *out);

#endif
