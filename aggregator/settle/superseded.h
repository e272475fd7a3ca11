/*
 * superseded.h - deletes attempts that are read no more.
 */
#ifndef AGGREGATOR_SETTLE_SUPERSEDED_H
#define AGGREGATOR_SETTLE_SUPERSEDED_H

#include <stdint.h>

#include "aggregator/settle/settling.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

/*
 * Attempts that are published or given up, where their numbers are ahead of
 * time since ClickHouse's clock once was.  Whoever picks a number knows all
 * there were, and publishes within `longest` of that or never: so a number that
 * is less than one which was seen longer ago is in nobody's hands.  No server's
 * clock is asked, nor when something was published, which was written by one.
 * Zeroed: nothing was seen.
 */
struct overtaken {
	uint64_t before; /* those that are less; 0: none is known */
	uint64_t newest; /* number that is in use since, or longer */
	int64_t seen_at; /* our monotonic ms; 0: nothing was seen */
};

/* `newest` never gets less by itself: then all is forgotten. */
void overtaken_see(struct overtaken *o, uint64_t newest, int64_t monotonic_ms,
		   int64_t longest_ms);

/* Deletes attempts that were begun keep_superseded ago, or were overtaken, and
 * are not the newest published one, nor in the base of a dropped day. */
int superseded_delete(const struct settling *s, struct overtaken *o,
		      struct error *err);

/*
 * An hour that is not over has a new attempt in most passes, each with all of
 * its rows: those that a newer one superseded `keep_ms` ago go at once.  Only
 * published ones; what a settler left behind goes with the others.
 */
int superseded_delete_open(struct clickhouse *ch, int64_t now_ms,
			   int64_t keep_ms, struct error *err);

#endif
