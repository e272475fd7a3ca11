/*
 * redirector_metrics.h - the counters and gauges of the redirector.
 *
 * The metrics belong to all threads.  Each thread counts in numbers of its own,
 * which are added up when the metrics are read, so that threads do not pass
 * cache lines back and forth for every request.  A new metric is a number here
 * and its row in redirector_metrics.c, in any order.
 */
#ifndef REDIRECTOR_REDIRECTOR_METRICS_H
#define REDIRECTOR_REDIRECTOR_METRICS_H

#include <stdatomic.h>
#include <stdint.h>

#include "common/error.h"
#include "common/metrics/metrics.h"

enum redirector_counter {
	COUNTER_302,
	COUNTER_301,
	COUNTER_307,
	COUNTER_308,
	COUNTER_LANDING,
	COUNTER_HEAD,
	COUNTER_HEAD_LANDING,
	COUNTER_NOT_FOUND,
	COUNTER_REFUSED_HOST,
	COUNTER_GONE,
	COUNTER_PAUSED,
	COUNTER_BLOCKED,
	COUNTER_FALLBACK,
	COUNTER_APP_FILE,
	COUNTER_APP_FILE_SAME,
	COUNTER_ROBOTS_TXT,
	COUNTER_FAVICON,
	COUNTER_NO_METHOD,
	COUNTER_UNAVAILABLE,
	COUNTER_UNAVAILABLE_LATE,
	COUNTER_UNAVAILABLE_BREAKER,
	COUNTER_DENIED,
	COUNTER_OVER_RATE,
	COUNTER_OVER_UNKNOWN,
	COUNTER_OVER_FETCHES,
	COUNTER_HITS,
	COUNTER_MISSES,
	COUNTER_STALE,
	COUNTER_REFUSED_CODES,
	COUNTER_FORGOTTEN,
	COUNTER_LOOKUPS,
	COUNTER_LOOKUPS_FAILED,
	COUNTER_ASKED_MASTER,
	COUNTER_ASKED_REPLICA,
	COUNTER_REPLICA_USED,
	COUNTER_REPLICA_STOOD_IN,
	COUNTER_REPLICA_LACKED,
	COUNTER_REPLICA_OUTDATED,
	COUNTER_REPLICA_FAILED,
	COUNTER_VISITS,
	COUNTER_VISITS_OVER,
	COUNTER_VISITS_FAILED,
	COUNTER_FETCHES,
	COUNTER_FETCHES_OVER,
	COUNTER_RENEWALS,
	COUNTER_RENEWALS_FAILED,
	COUNTER_EVENTS,
	COUNTER_DROPPED_FULL,
	COUNTER_DROPPED_REFUSED,
	COUNTER_DROPPED_EXPIRED,
	COUNTER_DROPPED_SPOOL_FULL,
	COUNTER_DROPPED_SPOOL_FAILED,
	COUNTER_DROPPED_DAMAGED,
	COUNTER_DROPPED_JOURNAL,
	COUNTER_WITHHELD_NOT_FOUND,
	COUNTER_WITHHELD_EXPIRED,
	COUNTER_WITHHELD_BLOCKED,
	COUNTER_SPOOLED,
	COUNTER_REPLAYED,
	COUNTER_RECOVERED,
	COUNTER_JOURNAL_FULL,
	COUNTER_KINDS,
};

struct redirector_metrics {
	struct metric *counters[COUNTER_KINDS];
	/* State of the spool. */
	struct metric *spool_events, *spool_bytes, *spool_oldest;
	struct metric *spool_missing, *journal_missing;
	struct metric *miss_seconds;
	struct metric *reload_failures;
	struct metric *files_rejected; /* files of former processes */
	struct metric *denied_networks;
};

void redirector_metrics_register(struct redirector_metrics *metrics,
				 struct metrics *registry);

/*
 * The counts of one thread: the metrics include them at once, and so before the
 * answer that they are about.  All zeros: closed, and ready to be opened.
 */
struct redirector_counters {
	struct metrics *registry;
	const struct redirector_metrics *metrics;
	_Atomic uint64_t n[COUNTER_KINDS];
};

/* The struct must not move until it is closed; after a failure it is closed. */
int redirector_counters_open(struct redirector_counters *c,
			     struct metrics *registry,
			     const struct redirector_metrics *metrics,
			     struct error *err);
/* Callable from any thread, after the one that counts has ended. */
void redirector_counters_close(struct redirector_counters *c);

static inline void redirector_count_many(struct redirector_counters *c,
					 enum redirector_counter which,
					 uint64_t n)
{
	atomic_store_explicit(
		&c->n[which],
		atomic_load_explicit(&c->n[which], memory_order_relaxed) + n,
		memory_order_relaxed);
}

static inline void redirector_count(struct redirector_counters *c,
				    enum redirector_counter which)
{
	redirector_count_many(c, which, 1);
}

#endif
