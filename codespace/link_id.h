/*
 * link_id.h - the number that identifies a link in statistics; never used
 * twice.
 *
 *	bits 57-62  space number (6)
 *	bits 42-56  generation of the block (15)
 *	bits  0-41  id within the space (42)
 *
 * Bit 63 is clear, so the number fits a signed 64-bit integer.  0 is no link's:
 * spaces are numbered from 1 and generations start at 1.  Space number 63 is
 * reserved for links that belong to no block: below it such a number has a
 * snowflake (snowflake.h) of 41 bits ms, 10 bits node and 6 bits sequence.
 */
#ifndef CODESPACE_LINK_ID_H
#define CODESPACE_LINK_ID_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"

#define LINK_SPACE_MIN	     1
#define LINK_SPACE_MAX	     62
#define LINK_SPACE_BLOCKLESS 63
#define LINK_GENERATION_MAX  32767
#define LINK_ID_MAX	     ((UINT64_C(1) << 42) - 1)

struct link_id_parts {
	unsigned space;
	unsigned generation;
	uint64_t id;
};

/* Returns -1 with ERROR_INPUT if a part does not fit its bits, or is 0 where 0
 * is not allowed. */
int link_id_pack(const struct link_id_parts *parts, uint64_t *ret_link_id,
		 struct error *err);

struct link_id_parts link_id_unpack(uint64_t link_id);

/* Returns the link id of a link without a block; `snowflake` has a sequence of
 * SNOWFLAKE_LINK_SEQUENCE bits. */
uint64_t link_id_blockless(uint64_t snowflake);

/* Returns true for a link without a block, for which link_id_unpack returns
 * nothing of use. */
bool link_id_is_blockless(uint64_t link_id);

#endif
