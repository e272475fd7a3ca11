/*
 * ledger.h - what a space has issued, lives on, waits with and may reuse.
 */
#ifndef LINKSTORE_SPACE_LEDGER_H
#define LINKSTORE_SPACE_LEDGER_H

#include <stdint.h>

#include "common/redis/redis.h"
#include "common/redis/redis_async.h"
#include "linkstore/linkstore.h"

/* In blocks, but for `links_created_today`, which is all that a space without
 * blocks has. */
struct space_ledger {
	uint64_t capacity;
	uint64_t cursor;      /* first block never issued */
	uint64_t issued;      /* granted and not yet reclaimed */
	uint64_t due;	      /* of those, to be looked at now */
	uint64_t lost;	      /* of those, known to have no marker */
	uint64_t pooled;      /* may be granted now */
	uint64_t quarantined; /* in the pool, still waiting */
	uint64_t retired;     /* out of generations */
	int64_t next_due;     /* ms since 1970; 0: nothing is to come due */
	uint64_t granted_today, reclaimed_today, pooled_today;
	uint64_t links_created_today;
};

/* Reads everything in one script; its cost grows with the number of ranges. */
int space_read_ledger(struct redis *redis, const struct link_space *space,
		      struct space_ledger *ret_ledger, struct error *err);
typedef void space_ledger_fn(void *arg, const struct space_ledger *ledger,
			     const struct error *err);
int space_read_ledger_async(struct redis_async *redis,
			    const struct link_space *space, space_ledger_fn *fn,
			    void *arg, struct error *err);

/*
 * Adds to today's count of links created.  The links live in other slots, so
 * this is a count beside them, not with them: gather and send it now and then.
 */
int space_count_created_async(struct redis_async *redis,
			      const struct link_space *space, uint64_t links,
			      struct error *err);

#endif
