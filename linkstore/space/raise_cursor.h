/*
 * raise_cursor.h - sends Redis the high water that was seen of a space (promise
 * 10).
 *
 * Every grant carries what its caller has seen.  But if Redis has lost data, a
 * caller that has seen less may be first.  So each program sends what it knows
 * as soon as it connects to Redis.
 */
#ifndef LINKSTORE_SPACE_RAISE_CURSOR_H
#define LINKSTORE_SPACE_RAISE_CURSOR_H

#include <stdint.h>

#include "common/redis/redis.h"
#include "common/redis/redis_async.h"
#include "linkstore/linkstore.h"

/*
 * Raises the cursor to what was seen; the skipped blocks enter `issued` as if
 * granted.  Also notes that Redis has lost data, as the first grant would, and
 * Redis' own high water (linkstore_note_high_water).  Errors as grant_blocks.
 */
int space_raise_cursor(struct redis *redis, const struct link_space *space,
		       const struct high_water *high_water, struct error *err);
typedef void space_raised_fn(void *arg, const struct error *err);
int space_raise_cursor_async(struct redis_async *redis,
			     const struct link_space *space,
			     const struct high_water *high_water,
			     space_raised_fn *fn, void *arg, struct error *err);

#endif
