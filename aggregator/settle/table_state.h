/*
 * table_state.h - detects whether rows of tables were added, changed or
 * deleted, without reading any: a table is its active parts, and each part has
 * a name and a hash of its contents.
 */
#ifndef AGGREGATOR_SETTLE_TABLE_STATE_H
#define AGGREGATOR_SETTLE_TABLE_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/clickhouse/clickhouse.h"

/*
 * State of the tables that settling reads: ingest_progress, settled and
 * dropped_sources.  A merge looks like a change.  The state is not known if the
 * server does not show it (no right to read system.parts), or has no parts of
 * one of the first two tables, for example because it is a Distributed table.
 */
struct table_state {
	bool known;
	uint64_t parts, rows, hash;
};

/* Work is searched for at least once in this many settle_every. */
#define TABLE_WATCH_LOOK_EVERY 4

/*
 * Avoids needless searches for work.  While the tables are as they were when
 * there was no work, searches happen only that seldom; they are still needed,
 * because time makes things due, too.  Zeros at first.
 */
struct table_watch {
	struct table_state now;
	/* State before the last search; known only if that search found
	 * nothing. */
	struct table_state nothing_at;
	int64_t look_at; /* latest time of the next search, monotonic ms */
};

/* Reads the state of the tables; returns true if no search is needed. */
bool table_watch_is_quiet(struct table_watch *w, struct clickhouse *ch);

/* Call it afterwards, if there was no error.  `looked`: a search was made. */
void table_watch_found(struct table_watch *w, bool something, bool looked,
		       int64_t settle_every);

#endif
