/*
 * lift.h - telling a Redis what was seen of a space before (promise 10).
 *
 * Every grant carries what its caller has seen; but after Redis has forgotten,
 * another caller that has seen less may be first.  So whoever meets Redis again
 * (a connection that comes up) says at once what it knows.
 */
#ifndef LINKSTORE_SPACE_LIFT_H
#define LINKSTORE_SPACE_LIFT_H

#include <stdint.h>

#include "common/redis/redis.h"
#include "common/redis/redis_async.h"
#include "linkstore/linkstore.h"

/*
 * Lifts the cursor to `seen`, one above the highest block seen; the blocks
 * passed over enter `issued` as if granted.  Also notes another run_id, as the
 * first grant would.  Errors as grant_blocks.
 */
int space_lift(struct redis *redis, const struct link_space *space,
	       uint64_t seen, struct error *err);
typedef void space_lifted_fn(void *arg, const struct error *err);
int space_lift_async(struct redis_async *redis, const struct link_space *space,
		     uint64_t seen, space_lifted_fn *fn, void *arg,
		     struct error *err);

#endif
