/*
 * question_params.h - the parameters of the queries that answer a question:
 * what a client wrote goes to ClickHouse as these, and never into the text.
 */
#ifndef AGGREGATOR_API_QUESTION_PARAMS_H
#define AGGREGATOR_API_QUESTION_PARAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/api/call.h"
#include "aggregator/api/filter.h"
#include "aggregator/api/question.h"
#include "common/buf.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

/* `items` point into it: it stays where it was filled. */
struct question_params {
	char link_id[24], from[24], to[24], attempt[24], limit[24], most[24];
	struct filter_params filters;
	struct buf owners;
	int64_t beside; /* rows that may be read for others of their events */
	struct clickhouse_param items[16 + FILTERS_MAX];
	size_t count;
};

/* link_id, from, to, attempt (nothing published later is read) and limit, for a
 * zeroed or released `p`.  Release it, also after a failure of what follows. */
void question_params_fill(struct question_params *p, const struct question *q,
			  uint64_t link_id, uint64_t attempt);

/* Those of the question's filters. */
int question_params_filter(struct question_params *p, const struct question *q,
			   struct error *err);

void question_params_release(struct question_params *p);

/* One more; `value` lives as long as `p`. */
void question_params_add(struct question_params *p, const char *name,
			 const char *value);
/* Takes those from the `count`th on away again. */
void question_params_cut(struct question_params *p, size_t count);

/* How many rows are read at most. */
void question_params_rows(struct question_params *p, int64_t most);

/* For rows of many links: bound_owners, a line each, and how many rows are read
 * at most: `most` or the setting raw_rows_max. */
int question_params_owners(struct question_params *p, const struct call *call,
			   const struct buf *owners, int64_t most,
			   struct error *err);

/* The same with the owners that the caller is confined to. */
int question_params_bound(struct question_params *p, const struct call *call,
			  int64_t most, struct error *err);

/* Whether the last query failed because it would have read more. */
bool question_params_exceeded(const struct call *call);

/* ERROR_INPUT: there are more than raw_rows_max; `instead` ends "ask for a
 * shorter range, or ". */
int question_params_refuse(const struct call *call, const char *instead,
			   struct error *err);

/* After a query with that bound has failed: if it was for the bound, `err`
 * becomes ERROR_INPUT, which says what to ask instead. */
void question_params_explain(const struct call *call, struct error *err);

#endif
