/*
 * lookup_health.h - reports look-ups of links to /readyz, metrics and the log:
 * the breakers of the threads, and whether they have a replica to query.
 *
 * While a thread's breaker for the master is open, the program is not ready: a
 * visit that is not in its cache gets a 503.  While it is half-open, the
 * program is ready, with a remark, since the thread needs visits to find out
 * whether Redis is back.  Replicas that are away or behind are a remark.
 * Callable from any thread.
 */
#ifndef REDIRECTOR_LOOKUP_LOOKUP_HEALTH_H
#define REDIRECTOR_LOOKUP_LOOKUP_HEALTH_H

#include <stddef.h>

#include "common/app/health.h"
#include "common/error.h"
#include "common/log.h"
#include "common/metrics/metrics.h"
#include "redirector/lookup/breaker.h"

enum lookup_server {
	LOOKUP_MASTER,
	LOOKUP_REPLICA,
	LOOKUP_SERVERS,
};

struct lookup_health;

struct lookup_health_options {
	struct health *health;
	struct metrics *metrics;
	struct log *log;
	size_t threads;
	bool replicas; /* replicas are configured */
};

/* All that the options point to must outlive it. */
struct lookup_health *
lookup_health_new(const struct lookup_health_options *options,
		  struct error *err);
void lookup_health_free(struct lookup_health *h); /* NULL accepted */

/* A thread's breaker has changed its state. */
void lookup_health_breaker(struct lookup_health *h, unsigned thread,
			   enum lookup_server of, enum breaker_state state);

/* `why` is the reason that the thread queries no replica; NULL: it does. */
void lookup_health_replica(struct lookup_health *h, unsigned thread,
			   const char *why);

#endif
