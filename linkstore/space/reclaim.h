/*
 * reclaim.h - the reclaimer's steps: lock, due ranges, close, settle.
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

#define RECLAIM_LOCK_MAX 160

/* One run's hold on a space. */
struct reclaim_lock {
	const struct link_space *space;
	int64_t ttl;		      /* ms; every settle renews it */
	char value[RECLAIM_LOCK_MAX]; /* random, and who it is */
};

/* ERROR_BUSY, retriable: another run holds it; the text says which. */
int reclaim_lock_take(struct redis *redis, const struct link_space *space,
		      int64_t ttl, struct reclaim_lock *ret_lock,
		      struct error *err);
/* ERROR_BUSY: it ran out and is not ours any more. */
int reclaim_lock_keep(struct redis *redis, const struct reclaim_lock *lock,
		      struct error *err);
/* Gives it up if it is still ours. */
int reclaim_lock_release(struct redis *redis, const struct reclaim_lock *lock,
			 struct error *err);

/* May what Redis says be believed?  ERROR_UNSAFE when keys were evicted or its
 * policy may evict, when the space record or the cursor is gone. */
int reclaim_check_sight(struct redis *redis, const struct link_space *space,
			struct error *err);

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

enum block_state {
	BLOCK_ENDED, /* or closed already */
	BLOCK_LIVE,
	BLOCK_LOST, /* no marker */
	/* No marker either, but a mark of its grant says that its holder never
	 * came to open it.  Only reclaim_unopened tells. */
	BLOCK_UNOPENED,
};

struct block_look {
	enum block_state state;
	int64_t end;	     /* ms, DURATION_NEVER; LOST: 0 */
	int64_t opened;	     /* ms; LOST: 0; not told by reclaim_close */
	uint32_t generation; /* the marker's */
};

/* Reads the markers of these blocks in pipelines; changes nothing.  Blocks
 * renewed one by one are due one by one: they need not be neighbours. */
int reclaim_look(struct redis *redis, const struct link_space *space,
		 const uint64_t *blocks, size_t count, int64_t now,
		 struct block_look *ret_looks, struct error *err);

/*
 * Closes those of these blocks that have ended, in pipelines, up to GROUP_MAX
 * (linkstore/block/groups.h) in one script; it checks
 * state and time again.  ret_looks[i] is what it found: BLOCK_ENDED is closed
 * now, with the generation that the next one must exceed.
 */
int reclaim_close(struct redis *redis, const struct link_space *space,
		  const uint64_t *blocks, size_t count, uint32_t generation,
		  struct block_look *ret_looks, struct error *err);

/*
 * Which blocks were granted under these generations and not opened, as far as
 * their holders have said (grant_confirm)?  So no link was ever stored in them
 * under these.  A Redis that has noticed that it forgot says so of none that it
 * had granted before.
 */
int reclaim_unopened(struct redis *redis, const struct link_space *space,
		     const uint64_t *blocks, const uint32_t *generations,
		     size_t count, bool *ret_unopened, struct error *err);

/*
 * Closes such blocks, so that an open that is still under way fails, in
 * pipelines.  ret_looks[i] is BLOCK_ENDED, or of one that has a marker by now
 * what reclaim_look says.
 */
int reclaim_close_unopened(struct redis *redis, const struct link_space *space,
			   const uint64_t *blocks, const uint32_t *generations,
			   size_t count, int64_t now,
			   struct block_look *ret_looks, struct error *err);

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
 * free of overlaps; members need not be neighbours.  ERROR_BUSY: the lock is
 * not ours; ERROR_NOTFOUND: a member is no longer there (handed back
 * meanwhile), nothing was changed; ERROR_UNSAFE: the space has lost its record
 * or its cursor.
 */
int reclaim_settle(struct redis *redis, const struct reclaim_lock *lock,
		   const struct block_range *members, size_t member_count,
		   const struct settle_part *parts, size_t part_count,
		   struct error *err);

/*
 * The same in a pipeline: what was sent is answered in order.  ERROR_NOTFOUND
 * of an answer also means that Redis does not know the script (any more):
 * reclaim_settle tells which it is.
 */
int reclaim_settle_send(struct redis *redis, const struct reclaim_lock *lock,
			const struct block_range *members, size_t member_count,
			const struct settle_part *parts, size_t part_count,
			struct error *err);
int reclaim_settle_take(struct redis *redis, const struct reclaim_lock *lock,
			struct error *err);

/*
 * Counts the links of a closed block that Redis still has, key by key, under
 * every key version of the space.  Anything but 0 means that the accounting is
 * wrong.  It takes a round trip for some hundreds of codes; `lock`, unless it
 * is NULL, is renewed meanwhile.
 */
int reclaim_count_links(struct redis *redis, const struct link_space *space,
			const struct reclaim_lock *lock, uint64_t block,
			uint64_t *ret_links, struct error *err);

/* Has a block any link, or the tombstone of one, under this configured key
 * version? */
int reclaim_has_links(struct redis *redis, const struct link_space *space,
		      uint64_t block, unsigned version, bool *ret_has,
		      struct error *err);

/* Is a block one of those skipped after Redis forgot (design 4.10)?  Such
 * blocks may have no marker for a good reason. */
struct reclaim_gaps;
int reclaim_gaps_read(struct redis *redis, const struct link_space *space,
		      struct reclaim_gaps **ret_gaps, struct error *err);
/* `generation`: that it is issued under; it is passed over under its first. */
bool reclaim_gaps_has(const struct reclaim_gaps *gaps, uint64_t block,
		      uint32_t generation);
void reclaim_gaps_free(struct reclaim_gaps *gaps); /* NULL accepted */

#endif
