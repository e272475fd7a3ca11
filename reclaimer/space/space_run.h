/*
 * space_run.h - one run over one space: everything due is scanned and settled,
 * or with dry_run scanned only.
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
	uint64_t rate;	     /* blocks per second; 0: as fast as it goes */
	uint64_t max_blocks; /* 0: all that are due */
	int64_t wait; /* ms for another run to end; DURATION_NEVER: for ever */
	/* Called between chunks with what there is so far, and how many blocks
	 * there will be as far as is known; waits up to timeout_ms; true to end
	 * the run there. */
	bool (*pause)(void *arg, const struct tally *tally, uint64_t total,
		      int timeout_ms);
	/* Called once when another run is waited for. */
	void (*waiting)(void *arg, const struct error *why);
	void *arg;
};

/*
 * *tally and *ret_interrupted are right also when -1 is returned: what was
 * settled until then stays settled.  ERROR_UNSAFE: what Redis says cannot be
 * believed; ERROR_BUSY: another run is at it; ERROR_USAGE: the span begins in
 * the future.
 */
int space_run(const struct space_run *run, struct tally *tally,
	      bool *ret_interrupted, struct error *err);

#endif
