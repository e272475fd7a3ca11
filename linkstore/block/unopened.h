/*
 * unopened.h - blocks that were granted and never opened
 *
 * Each granted block is marked as unopened (grant.h).  A block that is reused
 * and granted to a class that never ends has a second mark, which stays until a
 * run has checked it.  Its marker of the former generation looks the same
 * whether the block was never opened, or Redis lost the write that opened it.
 * If a block was granted to a class that ends, lost links have ended before the
 * block is checked.
 */
#ifndef LINKSTORE_BLOCK_UNOPENED_H
#define LINKSTORE_BLOCK_UNOPENED_H

#include <stdbool.h>

#include "linkstore/block/block_scan.h"

/*
 * Finds the blocks that were granted under these generations and not opened, as
 * far as their holders have confirmed (grant_confirm).  So no link was ever
 * stored in them under these generations.  A Redis that has detected a loss of
 * data reports none of the blocks that it had granted before.
 */
int reclaim_unopened(struct redis *redis, const struct link_space *space,
		     const uint64_t *blocks, const uint32_t *generations,
		     size_t count, bool *ret_unopened, struct error *err);

/*
 * Finds the blocks that may have links without an end under these generations,
 * as far as marks show; their markers are of an earlier generation.  These are
 * blocks granted to a class that never ends, unless they are known to be
 * unopened.
 */
int reclaim_unproven(struct redis *redis, const struct link_space *space,
		     const uint64_t *blocks, const uint32_t *generations,
		     size_t count, bool *ret_unproven, struct error *err);

/*
 * Closes blocks that were not opened, in pipelines, so that an open still under
 * way fails.  ret_scans[i] is BLOCK_ENDED, or the result of block_scan_read if
 * the block has a marker by now.
 */
int reclaim_close_unopened(struct redis *redis, const struct link_space *space,
			   const uint64_t *blocks, const uint32_t *generations,
			   size_t count, int64_t now,
			   struct block_scan *ret_scans, struct error *err);

#endif
