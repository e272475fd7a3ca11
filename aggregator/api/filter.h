/*
 * filter.h - which clicks are looked at, by their values: country=US,BR (one of
 * these) or channel=-direct (none of these).
 *
 * Values are separated by commas.  A backslash takes the next byte for itself:
 * `\,` is a comma of a value, `\\` a backslash, and `\-` at the start no minus.
 * An empty value is that of what is not known.
 */
#ifndef AGGREGATOR_API_FILTER_H
#define AGGREGATOR_API_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "aggregator/dimension.h"
#include "common/buf.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

enum {
	FILTERS_MAX = 16,	 /* of one question */
	FILTER_VALUES_MAX = 100, /* of one filter */
	FILTER_VALUE_MAX = 255,	 /* bytes of a value */
};

struct filter {
	const struct dimension *dimension;
	bool except;	   /* all but these */
	struct buf values; /* a line each; none has the end of a line */
};

struct filters {
	struct filter items[FILTERS_MAX];
	size_t count;
};

/* Reads one more; ERROR_INPUT names the dimension.  Zeroed, there is none;
 * release also after a failure. */
int filters_add(struct filters *f, const struct dimension *dimension,
		const char *text, struct error *err);
void filters_release(struct filters *f);

/* NULL: nothing is asked of that dimension. */
const struct filter *filters_find(const struct filters *f,
				  const struct dimension *dimension);
bool filter_takes(const struct filter *f, const char *value);

/* Appends " AND ..." for each: conditions on a row of `clicks`, with the
 * parameters of filter_params. */
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
