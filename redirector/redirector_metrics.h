/*
 * redirector_metrics.h - what the redirector counts.
 *
 * The metrics belong to all threads.  Each thread counts in numbers of
 * its own and adds them up once per loop turn, so that two threads do not pass
 * cache lines back and forth for every request.  A new one is a number here and
 * its row in redirector_metrics.c, in any order.
 */
#ifndef REDIRECTOR_REDIRECTOR_METRICS_H
#define REDIRECTOR_REDIRECTOR_METRICS_H

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
	COUNTER_BLOCKED,
	COUNTER_FALLBACK,
	COUNTER_APP_FILE,
	COUNTER_APP_FILE_SAME,
	COUNTER_NO_METHOD,
	COUNTER_UNAVAILABLE,
	COUNTER_UNAVAILABLE_LATE,
	COUNTER_UNAVAILABLE_BREAKER,
	COUNTER_DENIED,
	COUNTER_OVER_RATE,
	COUNTER_OVER_UNKNOWN,
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
	/* Of the spool. */
	struct metric *spool_events, *spool_bytes, *spool_oldest;
	struct metric *spool_missing, *journal_missing;
	struct metric *miss_seconds;
	struct metric *reload_failures;
	struct metric *files_rejected; /* of those a former process left */
	struct metric *denied_networks;
};

/* What one thread has counted since it last added to the metrics. */
struct redirector_counters {
	const struct redirector_metrics *metrics;
	uint64_t n[COUNTER_KINDS];
};

void redirector_metrics_register(struct redirector_metrics *metrics,
				 struct metrics *registry);

static inline void redirector_count(struct redirector_counters *c,
				    enum redirector_counter which)
{
	c->n[which]++;
}

void redirector_counters_flush(struct redirector_counters *c);

#endif
