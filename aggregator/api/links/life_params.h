/*
 * life_params.h - the parameters of statements about what became of links:
 * aggregator/sql/parts/state_of_newest.sql has the rule.
 *
 * A link is `reclaimed` if its block went back to the pool or its code belongs
 * to another link; `expired` if it was live or paused and its end is over, also
 * that of the last visit; otherwise it has the state of its last change.  A
 * blocked or deleted link does not expire.
 */
#ifndef AGGREGATOR_API_LINKS_LIFE_PARAMS_H
#define AGGREGATOR_API_LINKS_LIFE_PARAMS_H

#include <stdint.h>

#include "common/buf.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"
#include "linkstore/links_config.h"

#define LIFE_PARAMS 3

/* space_numbers, block_sizes and now. */
struct life_params {
	struct clickhouse_param items[LIFE_PARAMS];
	struct buf numbers, sizes; /* the memory of the values */
	char now[24];
};

/* `config` may be NULL, or have no spaces: then no block is known, and a link
 * is reclaimed once its code belongs to another.  `now_ms` is ClickHouse's.
 * Release also after a failure. */
int life_params_fill(struct life_params *ret, const struct links_config *config,
		     int64_t now_ms, struct error *err);
void life_params_release(struct life_params *params);

#endif
