/*
 * superseded.h - deletes attempts that are no longer read.
 */
#ifndef AGGREGATOR_SETTLE_SUPERSEDED_H
#define AGGREGATOR_SETTLE_SUPERSEDED_H

#include <stdint.h>

#include "aggregator/settle/settling.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

/*
 * Finds attempts that are published or abandoned, for numbers that are ahead of
 * time because ClickHouse's clock once was.  A settler that picks a number
 * knows all previous numbers, and publishes within `longest` or never: so a
 * number that is less than one seen longer ago is no longer in use.  This uses
 * no server's clock, nor a time of publication, which came from such a clock.
 * Zeroed: nothing was seen.
 */
struct overtaken {
	uint64_t before; /* lesser numbers are overtaken; 0: not known */
	uint64_t newest; /* greatest number in use at `seen_at` */
	int64_t seen_at; /* our monotonic ms; 0: nothing was seen */
};

/* `newest` never decreases by itself: if it does, *o is cleared. */
void overtaken_see(struct overtaken *o, uint64_t newest, int64_t monotonic_ms,
		   int64_t longest_ms);

/* Deletes attempts that were begun keep_superseded ago, or are overtaken,
 * unless they are the newest published one or in the base of a dropped day. */
int superseded_delete(const struct settling *s, struct overtaken *o,
		      struct error *err);

/*
 * An hour that is not over gets a new attempt in most passes, each with all of
 * its rows: attempts that were superseded `keep_ms` ago are deleted here.  Only
 * published ones; those of a settler that was killed are deleted with the
 * others.
 */
int superseded_delete_open(struct clickhouse *ch, int64_t now_ms,
			   int64_t keep_ms, struct error *err);

#endif
