/*
 * question_params.h - the parameters of the queries that answer a question:
 * text from a client goes to ClickHouse as these, and never into the SQL.
 */
#ifndef AGGREGATOR_API_STATISTICS_QUESTION_PARAMS_H
#define AGGREGATOR_API_STATISTICS_QUESTION_PARAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/api/call.h"
#include "aggregator/api/caller_params.h"
#include "aggregator/api/statistics/filter.h"
#include "aggregator/api/statistics/question.h"
#include "common/buf.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

/* `items` point into the struct: it must not move after it was filled. */
struct question_params {
	char link_id[24], from[24], to[24], attempt[24], limit[24], most[24];
	struct filter_params filters;
	struct buf accounts, owners;
	struct caller_params caller;
	int64_t beside; /* extra rows that may be read, to find repeats */
	/* How often a statement reads the rows that are limited; 0: once. */
	int64_t readings;
	struct clickhouse_param items[16 + FILTERS_MAX];
	size_t count;
};

/* Fills in link_id, from, to, attempt (nothing published later is read) and
 * limit; `p` is zeroed or released.  Release it, also after a failure of a
 * later step. */
void question_params_fill(struct question_params *p, const struct question *q,
			  uint64_t link_id, uint64_t attempt);

/* Adds the parameters of the question's filters. */
int question_params_filter(struct question_params *p, const struct question *q,
			   struct error *err);

void question_params_release(struct question_params *p);

/* Adds one parameter; `value` must live as long as `p`. */
void question_params_add(struct question_params *p, const char *name,
			 const char *value);
/* Removes the parameters from the `count`th on. */
void question_params_cut(struct question_params *p, size_t count);

/* For clicks of one link: adds the parameters of is_of_caller.sql. */
int question_params_caller(struct question_params *p, const struct call *call,
			   struct error *err);

/* Limits how many rows are read, in each of `readings`. */
void question_params_rows(struct question_params *p, int64_t most);

/* Some owners of an account, or all owners of some accounts; names one per
 * line. */
struct owner_names {
	struct buf accounts, owners;
	bool any_owner;
};
void owner_names_release(struct owner_names *names);

/* For rows of many links: adds bound_accounts, any_owner and bound_owners, and
 * the limit of rows, the lower of `most` and the setting raw_rows_max. */
int question_params_owners(struct question_params *p, const struct call *call,
			   const struct owner_names *names, int64_t most,
			   struct error *err);

/* The same with the account and owners that the caller is limited to. */
int question_params_bound(struct question_params *p, const struct call *call,
			  int64_t most, struct error *err);

/* Returns ERROR_INPUT: there are more rows than raw_rows_max; `instead` ends
 * "ask for a shorter range, or ". */
int question_params_refuse(const struct call *call, const char *instead,
			   struct error *err);

/* Call it after a query with that limit has failed: if the limit was the
 * reason, `err` becomes ERROR_INPUT, whose text suggests a smaller question. */
void question_params_explain(const struct call *call, struct error *err);

#endif
