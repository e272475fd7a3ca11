/*
 * manual_hold.h - takes blocks out of circulation by hand, and puts them back.
 *
 * Blocks that are out are neither granted nor reclaimed; their links stay as
 * they are.  Every step is one script in {space} that moves exact members, so
 * grants, hand-backs and a run of the reclaimer may go on meanwhile.
 */
#ifndef LINKSTORE_SPACE_MANUAL_HOLD_H
#define LINKSTORE_SPACE_MANUAL_HOLD_H

#include <stddef.h>
#include <stdint.h>

#include "common/app/operator.h"
#include "common/redis/redis.h"
#include "linkstore/linkstore.h"
#include "linkstore/range.h"

#define HOLD_WHO_MAX	OPERATOR_NAME_MAX /* both including NUL */
#define HOLD_REASON_MAX 201

struct hold_request {
	uint64_t first, last;
	/* Must not have spaces or control characters, e.g. "ann@host". */
	const char *who;
	/* Must not have control characters; "" if none is given. */
	const char *reason;
};

struct hold_result {
	uint64_t moved;	  /* blocks */
	uint64_t already; /* were already in place */
};

/*
 * Takes blocks out, from the pool or the issued set.  ERROR_INPUT: some were
 * never issued.  ERROR_NOTFOUND: some are in no set (retired, or missing);
 * nothing was changed.  ERROR_BUSY, retriable: they keep moving; blocks moved
 * so far are out, and *ret_result has their number.
 */
int space_hold(struct redis *redis, const struct link_space *space,
	       const struct hold_request *request,
	       struct hold_result *ret_result, struct error *err);

/*
 * Puts blocks back into the issued set, so that the reclaimer checks their
 * markers before they are granted.  ERROR_NOTFOUND: some are not out; nothing
 * was changed.
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

/* Reads the first `max` of the ranges, by time and then block; *ret_total
 * counts all. */
int space_read_out(struct redis *redis, const struct link_space *space,
		   size_t max, struct out_range *ret_ranges, size_t *ret_count,
		   uint64_t *ret_total, struct error *err);

#endif
