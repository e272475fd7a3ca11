/* code_expiries.h - reads when the link of each code of a block ends, and how
 * much memory the keys of a block use in Redis. */
#ifndef LINKSTORE_BLOCK_CODE_EXPIRIES_H
#define LINKSTORE_BLOCK_CODE_EXPIRIES_H

#include <stdint.h>

#include "common/redis/redis.h"
#include "linkstore/linkstore.h"

/*
 * ret_ends has room for all codes of a block.  It gets for each the end of its
 * link (ms, DURATION_NEVER), or 0 if there is none, or only a tombstone.  A
 * link under any key version of the space counts.  Uses pipelines.
 */
int code_expiries_read(struct redis *redis, const struct link_space *space,
		       uint64_t block, int64_t *ret_ends, struct error *err);

/* Reads the bytes of the block's marker, and of the link of one code under the
 * present key; 0 if there is none.  By MEMORY USAGE, including the key. */
int block_weigh(struct redis *redis, const struct link_space *space,
		uint64_t block, uint32_t offset, uint64_t *ret_marker,
		uint64_t *ret_link, struct error *err);

#endif
