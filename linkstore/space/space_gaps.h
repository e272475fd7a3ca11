/*
 * space_gaps.h - the blocks of a space that became issued when Redis forgot,
 * without anybody known to hold them (design 4.10).
 *
 * Such a block may have no marker, or that of a generation before, for a good
 * reason; and it may have had links for ever.
 */
#ifndef LINKSTORE_SPACE_SPACE_GAPS_H
#define LINKSTORE_SPACE_SPACE_GAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/redis/redis.h"
#include "linkstore/linkstore.h"

struct space_gaps;

/* Reads them from the space's record.  ERROR_UNSAFE when that cannot be
 * understood.  Blocks; *ret_gaps is the caller's. */
int space_gaps_read(struct redis *redis, const struct link_space *space,
		    struct space_gaps **ret_gaps, struct error *err);

/* `generation`: that the block is issued under.  From any thread. */
bool space_gaps_has(const struct space_gaps *gaps, uint64_t block,
		    uint32_t generation);

void space_gaps_free(struct space_gaps *gaps); /* NULL accepted */

#endif
