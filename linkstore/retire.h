/*
 * retire.h - takes a key version of a space out of use.
 *
 * After that no block is granted for the version, and its number may be given
 * another key.  It must not happen while a code of the version may still lead
 * anywhere: an old code that is read with another key would be in another
 * block.  So retiring checks all blocks that may have been opened for the
 * version, by the time of its last grant plus links.hold_max, and is refused
 * until their end and quarantine have passed.  The links of a block show which
 * version made its codes: one holder has one version.
 */
#ifndef LINKSTORE_RETIRE_H
#define LINKSTORE_RETIRE_H

#include <stdint.h>

#include "common/redis/redis.h"
#include "linkstore/linkstore.h"

/*
 * Retires a version that is configured, and not the one that makes new codes.
 * Takes the reclaimer's lock.  `*ret_blocks`: number of blocks checked.
 *	ERROR_CONFIG	it makes new codes here, or is not configured
 *	ERROR_NOTFOUND	the space's record does not have it
 *	ERROR_BUSY	its codes are in use; the text says until when
 *	ERROR_UNSAFE	its codes never end, or Redis has lost data
 *	ERROR_INPUT	the space's strategy has no versions to retire
 */
int space_retire_key(struct redis *redis, const struct link_space *space,
		     unsigned version, uint64_t *ret_blocks, struct error *err);

#endif
