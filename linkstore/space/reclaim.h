/*
 * reclaim.h - the reclaimer's steps: read due ranges, settle them.  In between,
 * the blocks are closed (block/block_scan.h, unopened.h), under a lock
 * (lock.h).
 *
 * Each step is one script of one slot.  The reclaimer may be killed between any
 * two: finished work stays done, and the next run finds the rest again.
 */
#ifndef LINKSTORE_SPACE_RECLAIM_H
#define LINKSTORE_SPACE_RECLAIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/redis/redis.h"
#include "linkstore/linkstore.h"
#include "linkstore/marker.h"
#include "linkstore/range.h"
#include "linkstore/space/lock.h"

struct due_range {
	struct block_range range;
	int64_t score; /* ms: when it became due */
};

/* The ranges to read, and how far they were read; initialize it with zeroes. */
struct due_cursor {
	int64_t from;  /* ms: due at or after this; 0: all */
	int64_t until; /* ms: and before this, if it has passed; 0: now */
	uint64_t rank;
	char last[RANGE_TEXT_MAX]; /* the last one read; "": none */
	/* Results: */
	int64_t now;	/* ms: Redis' clock */
	uint64_t total; /* number of due ranges in the whole set */
};

/*
 * Reads the next `max` (up to DUE_PAGE) due ranges, earliest first.  A caller
 * that settles them starts again with rank 0 and an empty `last`; otherwise it
 * goes on with the same cursor.
 */
#define DUE_PAGE 512
int reclaim_due(struct redis *redis, const struct link_space *space,
		struct due_cursor *cursor, size_t max, struct due_range *ret,
		size_t *ret_count, struct error *err);

/* The next state of a part of the settled members. */
enum settle_kind {
	SETTLE_POOL, /* to the pool, after quarantine */
	SETTLE_KEEP, /* stays issued, to be checked again at `score` */
	SETTLE_LOST, /* stays issued, not checked until repaired */
};

struct settle_part {
	enum settle_kind kind;
	/* generation: POOL: the one to be granted next; otherwise unchanged. */
	struct block_range range;
	int64_t score; /* KEEP: ms, DURATION_NEVER */
};

/*
 * Replaces members of the issued set by parts that cover exactly the same
 * blocks, under the lock, all or nothing.  Both are in ascending order without
 * overlaps; members need not be neighbours.  ERROR_NOT_OWNER: the lock is not
 * ours.  ERROR_NOTFOUND: a member is no longer there (handed back meanwhile);
 * nothing was changed.  ERROR_UNSAFE: the space has lost its record or its
 * cursor.
 */
int reclaim_settle(struct redis *redis, const struct reclaim_lock *lock,
		   const struct block_range *members, size_t member_count,
		   const struct settle_part *parts, size_t part_count,
		   struct error *err);

/* The same in a pipeline: each sent settle is answered in order. */
int reclaim_settle_send(struct redis *redis, const struct reclaim_lock *lock,
			const struct block_range *members, size_t member_count,
			const struct settle_part *parts, size_t part_count,
			struct error *err);
int reclaim_settle_take(struct redis *redis, const struct reclaim_lock *lock,
			struct error *err);

#endif
