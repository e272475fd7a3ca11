/* unopened.h - blocks that were granted and never opened */
#ifndef LINKSTORE_SPACE_UNOPENED_H
#define LINKSTORE_SPACE_UNOPENED_H

#include <stdbool.h>

#include "linkstore/block/block_scan.h"

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
 * pipelines.  ret_scans[i] is BLOCK_ENDED, or of one that has a marker by now
 * what block_scan_read says.
 */
int reclaim_close_unopened(struct redis *redis, const struct link_space *space,
			   const uint64_t *blocks, const uint32_t *generations,
			   size_t count, int64_t now,
			   struct block_scan *ret_scans, struct error *err);

#endif
