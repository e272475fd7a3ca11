/*
 * replica.h - a thread's connection to a read replica, and up to when it has
 * what was written to the master (replica_position.h), which is asked twice a
 * second.
 *
 * A replica that is away is tried again, and others after it; one that has
 * become a master is left.  Belongs to its loop's thread.
 */
#ifndef REDIRECTOR_REPLICA_H
#define REDIRECTOR_REPLICA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/loop/loop.h"
#include "common/redis/redis_async.h"
#include "redirector/replica_position.h"

struct replica;

/* Its connection came (NULL) or went, or whether it is close enough behind the
 * master has changed: `why` it is not to be asked before the master.  `anew`:
 * it is another connection. */
typedef void replica_state_fn(void *arg, bool anew, const char *why);

struct replica_options {
	struct loop *loop;
	const struct redis_config *config; /* that has replicas */
	struct redis_async *master;
	size_t first;	 /* of them to be tried */
	int64_t lag_max; /* ms that it may be behind */
	replica_state_fn *on_state;
	void *arg;
};

/* All of what it is made of must outlive it. */
struct replica *replica_new(const struct replica_options *options,
			    struct error *err);
/* Ends its connection, before the master's and once the loop no longer runs:
 * what is in flight gets its callback.  NULL accepted. */
void replica_stop(struct replica *r);
/* After it was stopped, and the master's connection freed.  NULL accepted. */
void replica_free(struct replica *r);

/* Not up, it refuses what it is sent.  NULL: it was stopped. */
struct redis_async *replica_redis(const struct replica *r);

/* It has all that was written to the master before then; REPLICA_NEVER: not
 * known. */
int64_t replica_as_of(const struct replica *r);

#endif
