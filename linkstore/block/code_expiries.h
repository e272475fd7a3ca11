/* code_expiries.h - until when each code of a block is taken by a link, and
 * what the keys of a block weigh in Redis. */
#ifndef LINKSTORE_BLOCK_CODE_EXPIRIES_H
#define LINKSTORE_BLOCK_CODE_EXPIRIES_H

#include <stdint.h>

#include "common/redis/redis.h"
#include "linkstore/linkstore.h"

/*
 * ret_ends has room for a block's codes: of each, when its link ends (ms,
 * DURATION_NEVER), or 0 when there is none or only the tombstone of one.  A
 * link under any key version of the space counts.  In pipelines.
 */
int code_expiries_read(struct redis *redis, const struct link_space *space,
		       uint64_t block, int64_t *ret_ends, struct error *err);

/* Bytes of the block's marker, 0 without one, and of the link of one code under
 * the present key, 0 without one: by MEMORY USAGE, key and all. */
int block_weigh(struct redis *redis, const struct link_space *space,
		uint64_t block, uint32_t offset, uint64_t *ret_marker,
		uint64_t *ret_link, struct error *err);

#endif
