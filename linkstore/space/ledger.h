/*
 * ledger.h - what a space has issued, lives on, waits with and may reuse.
 */
#ifndef LINKSTORE_SPACE_LEDGER_H
#define LINKSTORE_SPACE_LEDGER_H

#include <stdint.h>

#include "common/redis/redis.h"
#include "common/redis/redis_async.h"
#include "linkstore/linkstore.h"

/* A UTC day, in blocks but for `links_created`. */
struct space_day {
	uint64_t granted;
	uint64_t handed_back; /* of those, unused */
	uint64_t reclaimed;
	uint64_t pooled; /* of those, the rest has no generation left */
	uint64_t links_created;
};

#define LEDGER_DAYS 8 /* today and the seven days before */

/* In blocks, times in ms since 1970 by Redis' clock. */
struct space_ledger {
	int64_t now;	 /* when it was read */
	int64_t created; /* when the space was */
	uint64_t capacity;
	uint64_t cursor;      /* first block never issued */
	uint64_t issued;      /* granted and not yet reclaimed: */
	uint64_t live;	      /* ... their end is still to come */
	uint64_t due;	      /* ... it has come, to be looked at now */
	uint64_t overdue;     /* ... of those, longer ago than asked for */
	uint64_t lost;	      /* ... known to have no marker */
	uint64_t pooled;      /* may be granted now */
	uint64_t quarantined; /* in the pool, still waiting */
	uint64_t out;	      /* taken out of circulation by hand */
	uint64_t retired;     /* out of generations */
	uint64_t skipped;     /* ever, because Redis forgot */
	uint64_t forgot;      /* how often it did */
	/* Of all ranges, issued and pooled; 0: there are none. */
	uint32_t lowest_generation, highest_generation;
	int64_t next_due;		    /* 0: nothing is to come due */
	struct space_day days[LEDGER_DAYS]; /* 0: today */
};

/*
 * Reads the record in one script and the ranges in pages of LEDGER_PAGE, so
 * that others get their turn in between, however many there are.  A range that
 * moves meanwhile may be counted twice or not at all.  A space without blocks
 * has but its record and its days.  ERROR_NOTFOUND: the
 * space was not created, or has lost its cursor.  ERROR_UNSAFE: a member is no
 * range.
 */
#define LEDGER_PAGE 500 /* ranges */
int space_read_ledger(struct redis *redis, const struct link_space *space,
		      struct space_ledger *ret_ledger, struct error *err);

/* The same, `overdue` being what is due for longer than so many ms. */
int space_read_ledger_late(struct redis *redis, const struct link_space *space,
			   int64_t overdue_after,
			   struct space_ledger *ret_ledger, struct error *err);

/*
 * Adds to today's count of links created.  The links live in other slots, so
 * this is a count beside them, not with them: gather and send it now and then.
 */
int space_count_created_async(struct redis_async *redis,
			      const struct link_space *space, uint64_t links,
			      struct error *err);

#endif
