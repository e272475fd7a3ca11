/* link_count.h - counts the links that a block still has, key by key */
#ifndef LINKSTORE_BLOCK_LINK_COUNT_H
#define LINKSTORE_BLOCK_LINK_COUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "linkstore/space/lock.h"

/*
 * Counts the links of a closed block that Redis still has, key by key, under
 * every key version of the space.  A result other than 0 means that the
 * accounting is wrong.  It takes a round trip per some hundred codes; `lock`,
 * unless it is NULL, is renewed meanwhile.
 */
int link_count_read(struct redis *redis, const struct link_space *space,
		    const struct reclaim_lock *lock, uint64_t block,
		    uint64_t *ret_links, struct error *err);

/* Returns whether a block has a link, or a tombstone, under this configured key
 * version. */
int link_count_any(struct redis *redis, const struct link_space *space,
		   uint64_t block, unsigned version, bool *ret_has,
		   struct error *err);

#endif
