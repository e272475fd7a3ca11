/*
 * guarantee.h - what the server that is there can promise.
 *
 * A block sent again is recognised by its token as long as the table keeps the
 * token: the last N blocks of non_replicated_deduplication_window (or
 * replicated_deduplication_window), for which the server must be new enough and
 * must not have deduplication forbidden to this user.
 */
#ifndef COLLECTOR_ONCE_GUARANTEE_H
#define COLLECTOR_ONCE_GUARANTEE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

struct guarantee {
	bool known;
	bool exactly_once;
	uint64_t window; /* blocks, of the table that keeps the fewest */
	/* "exactly once (window 10000 blocks)" or "at least once: why" */
	char text[200];
};

int guarantee_probe(struct clickhouse *ch, struct guarantee *ret,
		    struct error *err);

/* How long (ms) a block may just be sent again: half of the time in which
 * `parts_per_second` inserts fill the window.  Later, what is stored is asked
 * first. */
int64_t guarantee_retry_ms(const struct guarantee *g, int64_t parts_per_second);

#endif
