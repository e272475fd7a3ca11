/*
 * space_gaps.h - the blocks of a space that became issued, without a known
 * holder, when Redis had lost data (design 4.10).
 *
 * Such a block may rightly have no marker, or one of an earlier generation; and
 * it may have had links that never end.
 */
#ifndef LINKSTORE_SPACE_SPACE_GAPS_H
#define LINKSTORE_SPACE_SPACE_GAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/redis/redis.h"
#include "linkstore/linkstore.h"

struct space_gaps;

/* Reads the gaps from the space's record.  ERROR_UNSAFE: they cannot be parsed.
 * The call blocks; the caller frees *ret_gaps. */
int space_gaps_read(struct redis *redis, const struct link_space *space,
		    struct space_gaps **ret_gaps, struct error *err);

/* `generation`: the one under which the block is issued.  Thread-safe. */
bool space_gaps_has(const struct space_gaps *gaps, uint64_t block,
		    uint32_t generation);

void space_gaps_free(struct space_gaps *gaps); /* NULL accepted */

#endif
