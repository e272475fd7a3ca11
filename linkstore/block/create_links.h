/* create_links.h - prepares a new link of a block. */
#ifndef LINKSTORE_BLOCK_CREATE_LINKS_H
#define LINKSTORE_BLOCK_CREATE_LINKS_H

#include <stddef.h>
#include <stdint.h>

#include "common/redis/redis.h"
#include "linkstore/block/block.h"
#include "schemas/link.pb-c.h"

/* Fills the fields that the store decides: link_id, generation, version 1, TTL
 * class and ttl_ms.  `link` keeps its other fields; its ttl_class points into
 * the store. */
int link_prepare(const struct link_block *block, uint32_t offset,
		 Shortloop__Link *link, struct error *err);

#endif
