/*
 * owner_values.h - how a copy of a day fills owner_values: the busiest values
 * of each dimension and owner, and one row for the rest of them.
 *
 * Two copies do, each with dimensions and attempts of its own: owner_days.h and
 * value_days.h.
 */
#ifndef AGGREGATOR_SETTLE_OWNER_VALUES_H
#define AGGREGATOR_SETTLE_OWNER_VALUES_H

#include <stdbool.h>
#include <stddef.h>

#include "aggregator/dimension.h"
#include "aggregator/settle/day_copy.h"
#include "common/buf.h"
#include "common/error.h"

/* A dimension of the copy? */
typedef bool owner_values_has_fn(const struct dimension *d);

/* SQL, of the day that is copied: rows of owner_values. */
#define OWNER_VALUES_DAY "toDate(toDateTime({start:UInt32}, 'UTC'))"
#define OWNER_VALUES_STAGED                                                    \
	"owner_values WHERE day = " OWNER_VALUES_DAY                           \
	" AND attempt = {attempt:UInt64} "

/* An expression: the attempt that the base of the dropped day is. */
void owner_values_put_base(struct buf *sql, const struct day_copy *c);

/* Rows of `clicks` that are copied, those of links. */
const char *owner_values_rows(const struct day_copy *c);

/*
 * Runs statements that make rows by `put`, one SELECT a dimension, and insert
 * them by `into`: as many at once as keep within some millions of rows read, so
 * that memory holds the groups of one where a day is large.
 */
typedef void owner_values_put_fn(struct buf *sql, const struct day_copy *c,
				 const struct dimension *d);
int owner_values_run(struct day_copy *c, const char *into,
		     owner_values_put_fn *put, owner_values_has_fn *has,
		     struct error *err);

/* Stages them. */
int owner_values_stage(struct day_copy *c, owner_values_has_fn *has,
		       struct error *err);

#endif
