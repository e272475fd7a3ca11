/* safety_check.h - may Redis be believed? */
#ifndef LINKSTORE_SPACE_SAFETY_CHECK_H
#define LINKSTORE_SPACE_SAFETY_CHECK_H

#include <stdint.h>

#include "common/error.h"
#include "common/redis/redis.h"
#include "linkstore/linkstore.h"

/* May what Redis says be believed?  ERROR_UNSAFE when keys were evicted or its
 * policy may evict, when the space record or the cursor is gone. *ret_redis_ms,
 * where it is asked for: Redis' clock, ms since 1970; 0 where Redis does not
 * say. */
int space_safety_check(struct redis *redis, const struct link_space *space,
		       int64_t *ret_redis_ms, struct error *err);

#endif
