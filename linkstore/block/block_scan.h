/*
 * block_scan.h - reads the markers of blocks, and closes those that have ended.
 */
#ifndef LINKSTORE_BLOCK_BLOCK_SCAN_H
#define LINKSTORE_BLOCK_BLOCK_SCAN_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/redis/redis.h"
#include "linkstore/linkstore.h"

enum block_state {
	BLOCK_ENDED, /* or already closed */
	BLOCK_LIVE,
	BLOCK_LOST, /* no marker */
	/* No marker either, but a mark of its grant shows that its holder never
	 * opened it.  Only reclaim_unopened reports this state. */
	BLOCK_UNOPENED,
};

struct block_scan {
	enum block_state state;
	/* ms, DURATION_NEVER; LOST: 0.  LIVE for blocked links only: when to
	 * read it again, a quarantine later. */
	int64_t end;
	int64_t opened;	     /* ms; LOST: 0; not set by block_scan_close */
	uint32_t generation; /* the marker's */
	bool has_blocked;    /* blocked links; not set by block_scan_close */
};

/* Reads the markers of these blocks in pipelines; changes nothing.  The blocks
 * need not be neighbours: blocks that were renewed one by one become due one by
 * one. */
int block_scan_read(struct redis *redis, const struct link_space *space,
		    const uint64_t *blocks, size_t count, int64_t now,
		    struct block_scan *ret_scans, struct error *err);

/*
 * Closes those of these blocks that have ended, in pipelines, up to GROUP_MAX
 * (linkstore/block/groups.h) in one script, which checks state and time again.
 * ret_scans[i] is the result: a BLOCK_ENDED is closed now, with the generation
 * that the next one must exceed.
 */
int block_scan_close(struct redis *redis, const struct link_space *space,
		     const uint64_t *blocks, size_t count, uint32_t generation,
		     struct block_scan *ret_scans, struct error *err);

#endif
