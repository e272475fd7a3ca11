/*
 * invalidations.h - subscribes to the messages about changed links, on a
 * connection to Redis and a thread of its own, and notes the changes for the
 * caches.
 *
 * Every HEARTBEAT_MS a PING is sent on that connection; messages that were
 * published before arrive before the answer.  A connection that breaks is
 * replaced: the entries of the caches are then looked up again.  A missing
 * connection does not make the program unready (see freshness.h), once the
 * first one has been tried.
 */
#ifndef REDIRECTOR_LOOKUP_INVALIDATIONS_H
#define REDIRECTOR_LOOKUP_INVALIDATIONS_H

#include "common/app/health.h"
#include "common/error.h"
#include "common/log.h"
#include "common/metrics/metrics.h"
#include "common/redis/redis_config.h"
#include "redirector/lookup/freshness.h"

struct invalidations;

/* All arguments must outlive it. */
struct invalidations *invalidations_new(const struct redis_config *redis,
					struct freshness *freshness,
					struct health_check *health,
					struct metrics *metrics,
					struct log *log, struct error *err);

int invalidations_start(struct invalidations *i, struct error *err);

/* Links are looked up in the Redis with this redis_run_id from now on ("":
 * unknown).  A subscription to another Redis ends, and a new one is made.
 * Callable from any thread. */
void invalidations_follow(struct invalidations *i, const char *run_id);

/* Ends the thread; called before the loops of freshness' readers are freed. */
void invalidations_stop(struct invalidations *i);
/* Calls invalidations_stop first.  NULL accepted. */
void invalidations_free(struct invalidations *i);

#endif
