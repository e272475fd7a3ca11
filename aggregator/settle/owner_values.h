/*
 * owner_values.h - fills owner_values for a copy of a day: the busiest values
 * of each dimension and owner, and one row for the rest of them.
 *
 * Two copies use it, each with dimensions and attempts of its own: owner_days.c
 * and value_days.c.
 */
#ifndef AGGREGATOR_SETTLE_OWNER_VALUES_H
#define AGGREGATOR_SETTLE_OWNER_VALUES_H

#include <stdbool.h>
#include <stddef.h>

#include "aggregator/dimension.h"
#include "aggregator/settle/day_copy.h"
#include "common/buf.h"
#include "common/error.h"

/* Whether the copy has the dimension. */
typedef bool owner_values_has_fn(const struct dimension *d);

/*
 * Runs statements that select rows by `put`, one SELECT for each dimension, and
 * insert them by `into`.  A statement takes as many dimensions as stay within
 * some millions of rows read, so that for a large day memory holds the groups
 * of only one.
 */
typedef void owner_values_put_fn(struct buf *sql, const struct day_copy *c,
				 const struct dimension *d);
int owner_values_run(struct day_copy *c, const char *into,
		     owner_values_put_fn *put, owner_values_has_fn *has,
		     struct error *err);

/* Appends a statement about one dimension of the day, whose blanks are
 * `dimension`, `value` and `base`. */
void owner_values_put(struct buf *sql, const struct day_copy *c,
		      const struct dimension *d, const char *text);

/* Stages the rows of the copy. */
int owner_values_stage(struct day_copy *c, owner_values_has_fn *has,
		       struct error *err);

#endif
