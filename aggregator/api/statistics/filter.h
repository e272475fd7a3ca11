/*
 * filter.h - filters of clicks by values of a dimension: country=US,BR (one of
 * these) or channel=-direct (none of these).
 *
 * Commas separate values.  A backslash escapes the next byte: `\,` is a comma
 * in a value, `\\` a backslash, and `\-` at the start a plain hyphen.  An empty
 * value stands for an unknown one.
 */
#ifndef AGGREGATOR_API_STATISTICS_FILTER_H
#define AGGREGATOR_API_STATISTICS_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "aggregator/dimension.h"
#include "common/buf.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

enum {
	FILTERS_MAX = 16,	 /* per question */
	FILTER_VALUES_MAX = 100, /* per filter */
	FILTER_VALUE_MAX = 255,	 /* bytes per value */
	FILTER_URL_MAX = 2048,	 /* bytes per URL */
};

struct filter {
	const struct dimension *dimension;
	bool except;	   /* all but these */
	struct buf values; /* one per line; no value contains a line end */
};

struct filters {
	struct filter items[FILTERS_MAX];
	size_t count;
};

/* Reads one more filter; ERROR_INPUT names the dimension.  A zeroed `f` has no
 * filters; release it also after a failure. */
int filters_add(struct filters *f, const struct dimension *dimension,
		const char *text, struct error *err);
void filters_release(struct filters *f);

/* Returns the filter by that dimension; NULL: there is none. */
const struct filter *filters_find(const struct filters *f,
				  const char *dimension);

bool filter_takes(const struct filter *f, const char *value);

/* Appends " AND ..." for each filter: a condition on a row of `clicks`, with
 * the parameters of filter_params. */
void filters_put_sql(const struct filters *f, struct buf *sql);

/* The parameters f0, f1 ... of a query. */
struct filter_params {
	char names[FILTERS_MAX][16];
	struct buf values[FILTERS_MAX];
};

/* Writes filters->count items to `to`, which point into `p`; release `p` also
 * after a failure. */
int filter_params_fill(struct filter_params *p, const struct filters *filters,
		       struct clickhouse_param *to, struct error *err);
void filter_params_release(struct filter_params *p);

#endif
