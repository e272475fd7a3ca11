/*
 * invalidations.h - listens to what is published of changed links, on a
 * connection to Redis and a thread of its own, and notes it for the caches.
 *
 * Every HEARTBEAT_MS Redis is asked for a sign of life on that connection;
 * what was published before comes before the answer.  Whenever the connection
 * breaks it is made anew: the caches' entries are then asked for again.  That
 * there is none is no reason not to be ready (see freshness.h), once the first
 * has been tried.
 */
#ifndef REDIRECTOR_INVALIDATIONS_H
#define REDIRECTOR_INVALIDATIONS_H

#include "common/app/health.h"
#include "common/error.h"
#include "common/log.h"
#include "common/metrics/metrics.h"
#include "common/redis/redis_config.h"
#include "redirector/freshness.h"

struct invalidations;

/* All of them must outlive it. */
struct invalidations *invalidations_new(const struct redis_config *redis,
					struct freshness *freshness,
					struct health_check *health,
					struct metrics *metrics,
					struct log *log, struct error *err);

int invalidations_start(struct invalidations *i, struct error *err);

/* Links are looked up in the Redis of this redis_run_id from now on ("": which
 * is not known).  A subscription to another one is no longer one, and a new one
 * is made.  From any thread. */
void invalidations_follow(struct invalidations *i, const char *run_id);

/* Ends the thread, before the loops of freshness' readers are freed. */
void invalidations_stop(struct invalidations *i);
/* Stops it first.  NULL accepted. */
void invalidations_free(struct invalidations *i);

#endif
