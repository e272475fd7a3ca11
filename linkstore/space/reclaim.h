/*
 * reclaim.h - the reclaimer's steps: due ranges, settle; between them the
 * blocks are closed (block/block_scan.h, unopened.h), under a lock (lock.h).
 *
 * Each step is one script of one slot and may be killed between any two: what
 * was done stays done, what was not is found again by the next run.
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
	int64_t score; /* ms: when it was to be looked at */
};

/* Which ranges, and how far they were read; filled with zeros at first. */
struct due_cursor {
	int64_t from;  /* ms: those due from then on; 0: from the beginning */
	int64_t until; /* ms: and until then, if that has passed; 0: now */
	uint64_t rank;
	char last[RANGE_TEXT_MAX]; /* the last one read; "": none */
	/* Answers. */
	int64_t now;	/* ms: Redis' clock */
	uint64_t total; /* ranges due when it was read, the whole set over */
};

/*
 * The next `max` (up to DUE_PAGE) ranges due, earliest first.  Whoever settles
 * what was read begins anew with rank 0 and no last one; whoever does not goes
 * on.
 */
#define DUE_PAGE 512
int reclaim_due(struct redis *redis, const struct link_space *space,
		struct due_cursor *cursor, size_t max, struct due_range *ret,
		size_t *ret_count, struct error *err);

/* What becomes of a part of the settled members. */
enum settle_kind {
	SETTLE_POOL, /* to the pool, after quarantine */
	SETTLE_KEEP, /* stays issued, looked at again at `score` */
	SETTLE_LOST, /* stays issued, not looked at until repaired */
};

struct settle_part {
	enum settle_kind kind;
	/* generation: POOL: that it is to be granted under; else as it was. */
	struct block_range range;
	int64_t score; /* KEEP: ms, DURATION_NEVER */
};

/*
 * Replaces members of the issued set by parts that cover exactly the same
 * blocks, under the lock, all or nothing.  Both are in ascending order and
 * free of overlaps; members need not be neighbours.  ERROR_NOT_OWNER: the lock
 * is not ours; ERROR_NOTFOUND: a member is no longer there (handed back
 * meanwhile), nothing was changed; ERROR_UNSAFE: the space has lost its record
 * or its cursor.
 */
int reclaim_settle(struct redis *redis, const struct reclaim_lock *lock,
		   const struct block_range *members, size_t member_count,
		   const struct settle_part *parts, size_t part_count,
		   struct error *err);

/* The same in a pipeline: what was sent is answered in order. */
int reclaim_settle_send(struct redis *redis, const struct reclaim_lock *lock,
			const struct block_range *members, size_t member_count,
			const struct settle_part *parts, size_t part_count,
			struct error *err);
int reclaim_settle_take(struct redis *redis, const struct reclaim_lock *lock,
			struct error *err);

#endif
