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

/*
 * Of those tables that settling follows from: ingest_progress, settled and
 * dropped_sources.  A merge looks like a change.  Not known where the server
 * does not tell (no right to read system.parts), or has no parts of one of the
 * first two, as where it is a Distributed one.
 */
struct table_state {
	bool known;
	uint64_t parts, rows, hash;
};

/* In so many settle_every it is looked for what is to be done, at the least. */
#define TABLE_WATCH_LOOK_EVERY 4

/*
 * Spares looking for what is to be done: while the tables are as they were when
 * nothing was, it is looked for that seldom, as time makes things due, too.
 * Zeros at first.
 */
struct table_watch {
	struct table_state now;
	/* Before the last look; known if that found nothing at all. */
	struct table_state nothing_at;
	int64_t look_at; /* monotonic ms of the next look at the latest */
};

/* Reads the tables' state; true: there is no need to look. */
bool table_watch_is_quiet(struct table_watch *w, struct clickhouse *ch);

/* After that, when all went well.  `looked`: in spite of it, or as there was
 * need. */
void table_watch_found(struct table_watch *w, bool something, bool looked,
		       int64_t settle_every);

#endif
