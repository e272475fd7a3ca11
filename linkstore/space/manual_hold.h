/*
 * manual_hold.h - blocks taken out of circulation by hand, and put back.
 *
 * Blocks that are out are neither granted nor reclaimed; their links go on as
 * they are.  Every step is one script in {space} that moves exact members, so
 * grants, hand-backs and a run of the reclaimer may go on meanwhile.
 */
#ifndef LINKSTORE_SPACE_MANUAL_HOLD_H
#define LINKSTORE_SPACE_MANUAL_HOLD_H

#include <stddef.h>
#include <stdint.h>

#include "common/redis/redis.h"
#include "linkstore/linkstore.h"
#include "linkstore/range.h"

#define HOLD_WHO_MAX	64 /* with their NULs */
#define HOLD_REASON_MAX 201

struct hold_request {
	uint64_t first, last;
	/* No spaces or control characters in it, e.g. "ann@host". */
	const char *who;
	/* No control characters; "" when none is given. */
	const char *reason;
};

struct hold_result {
	uint64_t moved;	  /* blocks */
	uint64_t already; /* were where they were to go */
};

/*
 * Takes blocks out, from the pool or issued.  ERROR_INPUT: some were never
 * issued.  ERROR_NOTFOUND: some are in no set (retired, or missing); nothing
 * was changed.  ERROR_BUSY, retriable: they keep moving; what was moved until
 * then is out, *ret_result says how many.
 */
int space_hold(struct redis *redis, const struct link_space *space,
	       const struct hold_request *request,
	       struct hold_result *ret_result, struct error *err);

/*
 * Puts blocks back: into the issued set, so that the reclaimer judges them by
 * their markers before they are granted.  ERROR_NOTFOUND: some are not out;
 * nothing was changed.
 */
int space_release(struct redis *redis, const struct link_space *space,
		  const struct hold_request *request,
		  struct hold_result *ret_result, struct error *err);

/* A range that is out. */
struct out_range {
	struct block_range range;
	int64_t since; /* ms, Redis' clock */
	char who[HOLD_WHO_MAX];
	char reason[HOLD_REASON_MAX];
};

/* The first `max` of them, by time and then block; *ret_total counts all. */
int space_read_out(struct redis *redis, const struct link_space *space,
		   size_t max, struct out_range *ret_ranges, size_t *ret_count,
		   uint64_t *ret_total, struct error *err);

#endif
