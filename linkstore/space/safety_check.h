/* safety_check.h - checks whether Redis' data can be trusted */
#ifndef LINKSTORE_SPACE_SAFETY_CHECK_H
#define LINKSTORE_SPACE_SAFETY_CHECK_H

#include <stdint.h>

#include "common/error.h"
#include "common/redis/redis.h"
#include "linkstore/linkstore.h"

/* Returns ERROR_UNSAFE if keys were evicted, if Redis' policy may evict, or if
 * the space record or the cursor is gone.  *ret_redis_ms (may be NULL): Redis'
 * clock, ms since 1970; 0 if Redis does not report it. */
int space_safety_check(struct redis *redis, const struct link_space *space,
		       int64_t *ret_redis_ms, struct error *err);

#endif
