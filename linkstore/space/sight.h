/* sight.h - may Redis be believed? */
#ifndef LINKSTORE_SPACE_SIGHT_H
#define LINKSTORE_SPACE_SIGHT_H

#include "common/error.h"
#include "common/redis/redis.h"
#include "linkstore/linkstore.h"

/* May what Redis says be believed?  ERROR_UNSAFE when keys were evicted or its
 * policy may evict, when the space record or the cursor is gone. */
int reclaim_check_sight(struct redis *redis, const struct link_space *space,
			struct error *err);

#endif
