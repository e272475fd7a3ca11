/*
 * table_state.h - whether rows of tables were added, changed or deleted, told
 * without reading any: a table is its active parts, and each part has a name
 * and a hash of what it holds.
 */
#ifndef AGGREGATOR_SETTLE_TABLE_STATE_H
#define AGGREGATOR_SETTLE_TABLE_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/clickhouse/clickhouse.h"

struct table_state {
	bool known;
	uint64_t parts, rows, hash;
};

/*
 * Of those tables that settling follows from: ingest_progress, settled and
 * dropped_sources.  A merge looks like a change.  Not known where the server
 * does not tell (no right to read system.parts), or has no parts of one of the
 * first two, as where it is a Distributed one.
 */
void table_state_read(struct clickhouse *ch, struct table_state *ret);

/* False if either is not known. */
bool table_state_is_same(const struct table_state *a,
			 const struct table_state *b);

#endif
