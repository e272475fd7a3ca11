/*
 * ledger.h - the ledger of a space: blocks issued, live, waiting and reusable.
 */
#ifndef LINKSTORE_SPACE_LEDGER_H
#define LINKSTORE_SPACE_LEDGER_H

#include <stdint.h>

#include "common/redis/redis.h"
#include "common/redis/redis_async.h"
#include "linkstore/linkstore.h"

/* The counts of a UTC day, in blocks except `links_created`. */
struct space_day {
	uint64_t granted;
	uint64_t handed_back; /* part of `granted`, unused */
	uint64_t reclaimed;
	uint64_t pooled; /* part of `reclaimed`: has a generation left */
	/* Links that allocators reported, every two seconds: one that is killed
	 * does not report the last of them. */
	uint64_t links_created;
};

#define LEDGER_DAYS 8 /* today and the seven days before */

/* Counts are in blocks, times in ms since 1970 by Redis' clock. */
struct space_ledger {
	int64_t now;	 /* when the ledger was read */
	int64_t created; /* when the space was created */
	uint64_t capacity;
	uint64_t cursor;      /* first block never issued */
	uint64_t issued;      /* granted and not yet reclaimed: */
	uint64_t live;	      /* ... their end is still to come */
	uint64_t gap;	      /* ... the same, but nobody is known to hold
				 them, since Redis had lost data */
	uint64_t due;	      /* ... it has come, to be checked now */
	uint64_t overdue;     /* ... part of `due`, for longer than requested */
	uint64_t lost;	      /* ... known to have no marker */
	uint64_t pooled;      /* may be granted now */
	uint64_t quarantined; /* in the pool, still waiting */
	uint64_t out;	      /* taken out of circulation by hand */
	uint64_t retired;     /* out of generations */
	uint64_t skipped;     /* ever, because Redis had lost data */
	uint64_t forgot;      /* how often Redis had lost data */
	/* Over all ranges, issued and pooled; 0: there are none. */
	uint32_t lowest_generation, highest_generation;
	int64_t next_due;		    /* 0: no block will become due */
	struct space_day days[LEDGER_DAYS]; /* 0: today */
};

/*
 * Reads the record in one script and the ranges in pages of LEDGER_PAGE, so
 * that other clients are served in between, however many there are.  A range
 * that moves in the meantime may be counted twice or not at all.  A space
 * without blocks has only its record and its days.  ERROR_NOTFOUND: the space
 * was not created, or has lost its cursor.  ERROR_UNSAFE: a member is not a
 * range.
 */
#define LEDGER_PAGE 500 /* ranges */
int space_read_ledger(struct redis *redis, const struct link_space *space,
		      struct space_ledger *ret_ledger, struct error *err);

/* The same; `overdue` counts blocks that have been due for longer than this
 * (ms). */
int space_read_ledger_late(struct redis *redis, const struct link_space *space,
			   int64_t overdue_after,
			   struct space_ledger *ret_ledger, struct error *err);

/*
 * Adds to today's count of links created.  The links are in other slots, so the
 * count is separate from them: collect counts and send them from time to time.
 */
int space_count_created_async(struct redis_async *redis,
			      const struct link_space *space, uint64_t links,
			      struct error *err);

#endif
