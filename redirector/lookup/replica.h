/*
 * replica.h - a thread's connection to a read replica, and the time until which
 * the replica has all writes of the master (replica_position.h), which is
 * checked twice a second.
 *
 * A replica that is away is tried again, and others after it; one that has
 * become a master is left.  Belongs to its loop's thread.
 */
#ifndef REDIRECTOR_LOOKUP_REPLICA_H
#define REDIRECTOR_LOOKUP_REPLICA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/loop/loop.h"
#include "common/redis/redis_async.h"
#include "redirector/lookup/replica_position.h"

struct replica;

/* Called when the connection is made or lost, and when the replica falls too
 * far behind the master or has caught up.  `why` is the reason not to query it
 * before the master; NULL: it may be queried.  `anew` is true for a new
 * connection. */
typedef void replica_state_fn(void *arg, bool anew, const char *why);

struct replica_options {
	struct loop *loop;
	const struct redis_config *config; /* must name replicas */
	struct redis_async *master;
	size_t first;	 /* number of the replica to try first */
	int64_t lag_max; /* ms; maximum that it may be behind */
	replica_state_fn *on_state;
	void *arg;
};

/* All that the options point to must outlive it. */
struct replica *replica_new(const struct replica_options *options,
			    struct error *err);
/* Ends its connection, before the master's and once the loop no longer runs:
 * queries under way get their callback.  NULL accepted. */
void replica_stop(struct replica *r);
/* Called after it was stopped, and the master's connection freed.  NULL
 * accepted. */
void replica_free(struct replica *r);

/* Returns the connection, which refuses commands while it is not up.  NULL: it
 * was stopped. */
struct redis_async *replica_redis(const struct replica *r);

/* Returns the time before which it has all writes of the master; REPLICA_NEVER:
 * unknown. */
int64_t replica_as_of(const struct replica *r);

#endif
