/*
 * caller_params.h - the parameters of statements about what the caller sees:
 * aggregator/sql/parts/is_of_caller.sql has the condition on clicks of links
 * that he sees now.  A link that changed hands keeps the clicks of its former
 * holders to these.
 */
#ifndef AGGREGATOR_API_CALLER_PARAMS_H
#define AGGREGATOR_API_CALLER_PARAMS_H

#include "aggregator/api/access.h"
#include "common/buf.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

#define CALLER_PARAMS 4

/* any_account, caller_account, every_owner and caller_owners. */
struct caller_params {
	struct clickhouse_param items[CALLER_PARAMS];
	struct buf account, owners; /* the memory of the values */
};

/* `bounds` NULL: the caller sees all.  Release also after a failure. */
int caller_params_fill(struct caller_params *ret,
		       const struct access_bounds *bounds, struct error *err);
/* The same for the bounds of that access. */
int caller_params_of(struct caller_params *ret, const struct access *access,
		     struct error *err);
void caller_params_release(struct caller_params *params);

#endif
