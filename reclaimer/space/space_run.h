/*
 * space_run.h - one run over one space: scans and settles everything that is
 * due; with dry_run it only scans.
 */
#ifndef RECLAIMER_SPACE_SPACE_RUN_H
#define RECLAIMER_SPACE_SPACE_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/redis/redis.h"
#include "linkstore/linkstore.h"
#include "reclaimer/reclaimer_config.h"
#include "reclaimer/space/clock_check.h"
#include "reclaimer/space/due_feed.h"
#include "reclaimer/space/tally.h"

struct space_run {
	const struct reclaimer_settings *settings;
	struct redis *redis;
	struct clock_check *clock;
	const struct link_space *space;
	struct due_span span;
	bool dry_run;
	uint64_t rate;	     /* blocks per second; 0: no limit */
	uint64_t max_blocks; /* 0: all that are due */
	/* ms to wait for another run; DURATION_NEVER: for ever. */
	int64_t wait;
	/* Called between chunks with the tally so far and the expected number
	 * of blocks; waits up to timeout_ms; returns true to end the run. */
	bool (*pause)(void *arg, const struct tally *tally, uint64_t total,
		      int timeout_ms);
	/* Called once if the run waits for another run. */
	void (*waiting)(void *arg, const struct error *why);
	void *arg;
};

/*
 * *tally and *ret_interrupted are valid also if -1 is returned: what was
 * settled until then stays settled.  ERROR_UNSAFE: Redis' data cannot be
 * trusted; ERROR_BUSY: another run is in progress; ERROR_USAGE: the span begins
 * in the future.
 */
int space_run(const struct space_run *run, struct tally *tally,
	      bool *ret_interrupted, struct error *err);

#endif
