/*
 * lookup_health.h - what /readyz, metrics and the log tell of looking links up:
 * the threads' breakers, and whether they have a replica to ask.
 *
 * While a thread's breaker for the master is open the program is not ready:
 * what is not in its cache is a 503.  Half-open it is, with a remark, since it
 * is visits by which the thread finds out.  That replicas are away or behind is
 * a remark.  From any thread.
 */
#ifndef REDIRECTOR_LOOKUP_HEALTH_H
#define REDIRECTOR_LOOKUP_HEALTH_H

#include <stddef.h>

#include "common/app/health.h"
#include "common/error.h"
#include "common/log.h"
#include "common/metrics/metrics.h"
#include "redirector/breaker.h"

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
	bool replicas; /* there are some */
};

/* What the options point to must outlive it. */
struct lookup_health *
lookup_health_new(const struct lookup_health_options *options,
		  struct error *err);
void lookup_health_free(struct lookup_health *h); /* NULL accepted */

/* A thread's breaker is in another state. */
void lookup_health_breaker(struct lookup_health *h, unsigned thread,
			   enum lookup_server of, enum breaker_state state);

/* `why` the thread asks no replica; NULL: it does. */
void lookup_health_replica(struct lookup_health *h, unsigned thread,
			   const char *why);

#endif
