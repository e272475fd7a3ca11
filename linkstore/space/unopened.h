/*
 * unopened.h - blocks that were granted and never opened
 *
 * Each block that is granted is marked as such (grant.h).  One that is reused
 * and granted for ever has a second mark, which stays until a run has judged
 * it.  Its marker of the generation before looks the same whether nobody opened
 * it or Redis forgot that somebody did; of one that was granted for a time,
 * what was forgotten has ended before it is looked at.
 */
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
 * Which of these blocks, whose markers are of a generation before, may have
 * links without an end under these, as far as marks tell: those granted for
 * ever, unless they are known not to have been opened.
 */
int reclaim_unproven(struct redis *redis, const struct link_space *space,
		     const uint64_t *blocks, const uint32_t *generations,
		     size_t count, bool *ret_unproven, struct error *err);

/*
 * Closes blocks that were not opened, so that an open that is still under way
 * fails, in pipelines.  ret_scans[i] is BLOCK_ENDED, or of one that has a
 * marker by now what block_scan_read says.
 */
int reclaim_close_unopened(struct redis *redis, const struct link_space *space,
			   const uint64_t *blocks, const uint32_t *generations,
			   size_t count, int64_t now,
			   struct block_scan *ret_scans, struct error *err);

#endif
