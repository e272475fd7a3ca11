/*
 * survey.h - reads the whole accounting of a space and counts each block.
 *
 * Block numbers are processed in windows of BLOCK_MAP_WINDOW; for each window
 * the three sets are read once, and the marker of each block in them is read.
 * So memory is bounded by the window, and the sets are read only once for a
 * space that has fewer blocks than that.
 *
 * The space may be in use meanwhile.  A suspicious block (in no set, in two, or
 * contradicting its marker) may only have moved, so it is checked again until
 * one of these happens: it is found in order once; a check ran while nothing
 * moved at all (space_movement); it was suspicious in several checks some time
 * apart.
 */
#ifndef RECLAIMER_VERIFY_SURVEY_H
#define RECLAIMER_VERIFY_SURVEY_H

#include <stdbool.h>
#include <stdint.h>

#include "codespace/link_id.h"
#include "common/error.h"
#include "common/redis/redis.h"
#include "linkstore/space/member_list.h"
#include "linkstore/space/members.h"
#include "linkstore/space/reclaim.h"
#include "linkstore/space/space_gaps.h"
#include "reclaimer/verify/block_findings.h"
#include "reclaimer/verify/block_map.h"
#include "reclaimer/verify/range_list.h"

struct census {
	uint64_t states[STATE_COUNT_OF]; /* blocks */
	uint64_t missing;
	uint64_t unclear; /* in two sets, so that no single state applies */
};

#define SURVEY_BATCH 512

/* A block of a member, waiting for its marker. */
struct survey_item {
	uint64_t block;
	struct found_member claim;
};

/* Blocks whose markers are read at once. */
struct survey_batch {
	struct survey_item items[SURVEY_BATCH];
	struct marker_look markers[SURVEY_BATCH];
	bool unopened[SURVEY_BATCH]; /* by the marks of their grants */
	size_t count;		     /* number of waiting items */
};

/* The window that is being read. */
struct survey_window {
	struct block_map map;
	struct range_list suspects;
	bool first; /* members are checked in the first window only */
};

struct survey {
	/* Set by the caller. */
	struct redis *redis;
	const struct link_space *space;
	const struct reclaim_lock *lock; /* NULL: none is held */
	uint64_t rate;			 /* blocks per second; 0: no limit */
	/* Called from time to time with the blocks so far and in all; waits up
	 * to timeout_ms; returns true to stop. */
	bool (*pause)(void *arg, uint64_t done, uint64_t total, int timeout_ms);
	void *arg;
	bool wants_lost; /* collect them, for a repair */

	/* The result. */
	struct space_movement at_start;
	struct census census;
	struct block_findings findings;
	/* Blocks with score 0 and no marker, by generation; incomplete if there
	 * are very many ranges. */
	struct range_list lost;
	bool proven; /* all findings come from checks while nothing moved */

	/* Internal. */
	struct space_gaps *gaps;
	struct classify_terms terms;
	uint64_t cursor; /* as last read */
	struct survey_window window;
	struct survey_batch batch;
	int64_t started;
	uint64_t done; /* markers read */
};

/* ERROR_UNSAFE: there is no space to survey.  ERROR_STOPPED.  ERROR_NOT_OWNER:
 * the lock is lost.  The caller calls survey_free in any case. */
int survey_run(struct survey *s, struct error *err);
void survey_free(struct survey *s);

/* Reads the markers of adjacent blocks into s->batch: as many of first..last as
 * fit, from the first on.  Keeps the rate and the lock. */
int survey_read_markers(struct survey *s, uint64_t first, uint64_t last,
			size_t *ret_count, struct error *err);

/* Finds the members that contain blocks of the ranges, which must be sorted;
 * the result is sorted, too.  The caller calls member_list_free. */
int survey_find_claims(struct survey *s, const struct range_list *ranges,
		       struct member_list *ret_claims, struct error *err);

#endif
