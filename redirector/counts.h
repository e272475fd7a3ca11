/*
 * counts.h - what the redirector counts.
 *
 * The metrics belong to all threads.  Each thread counts in numbers of its own
 * and adds them up once per loop turn, so that two threads do not pass cache
 * lines back and forth for every request.
 */
#ifndef REDIRECTOR_COUNTS_H
#define REDIRECTOR_COUNTS_H

#include <stdint.h>

#include "common/error.h"
#include "common/metrics/metrics.h"

enum count {
	COUNT_302,
	COUNT_301,
	COUNT_307,
	COUNT_308,
	COUNT_HEAD,
	COUNT_NOT_FOUND,
	COUNT_REFUSED_HOST,
	COUNT_GONE,
	COUNT_BLOCKED,
	COUNT_FALLBACK,
	COUNT_NO_METHOD,
	COUNT_UNAVAILABLE,
	COUNT_HITS,
	COUNT_MISSES,
	COUNT_STALE,
	COUNT_REFUSED_CODES,
	COUNT_LOOKUPS,
	COUNT_LOOKUPS_FAILED,
	COUNT_VISITS,
	COUNT_VISITS_OVER,
	COUNT_VISITS_FAILED,
	COUNT_RENEWALS,
	COUNT_RENEWALS_FAILED,
	COUNT_EVENTS,
	COUNT_DROPPED_FULL,
	COUNT_DROPPED_REFUSED,
	COUNT_DROPPED_EXPIRED,
	COUNT_KINDS,
};

struct counts_shared {
	struct metric *kinds[COUNT_KINDS];
	struct metric *miss_seconds;
};

/* What one thread has counted since it last added up. */
struct counts {
	const struct counts_shared *shared;
	uint64_t n[COUNT_KINDS];
};

void counts_shared_register(struct counts_shared *shared,
			    struct metrics *metrics);

static inline void count(struct counts *c, enum count kind)
{
	c->n[kind]++;
}

void counts_add_up(struct counts *c);

#endif
