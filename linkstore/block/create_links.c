#include "linkstore/block/create_links.h"

#include <inttypes.h>
#include <stdlib.h>

#include "codespace/link_id.h"
#include "common/clock.h"
#include "linkstore/block/create_command.h"

int link_prepare(const struct link_block *block, uint32_t offset,
		 Shortloop__Link *link, struct error *err)
{
	const struct link_space *space = block->space;
	struct link_id_parts parts = {
		.space = space->number,
		.generation = block->generation,
		.id = block->number * space->block_size + offset,
	};
	uint64_t link_id;

	if (offset >= space->block_size || block->number >= space->blocks)
		return error_set(err, ERROR_INPUT,
				 "space %s has no offset %" PRIu32
				 " in block %" PRIu64,
				 space->name, offset, block->number);
	if (link_id_pack(&parts, &link_id, err))
		return -1;
	link->link_id = link_id;
	link->generation = block->generation;
	link->version = 1;
	link->ttl_class = (char *)(uintptr_t)block->ttl->name;
	link->ttl_ms = block->ttl->ttl == DURATION_NEVER
			       ? 0
			       : (uint64_t)block->ttl->ttl;
	return 0;
}
