#include "codespace/link_id.h"

#include <inttypes.h>

#define GENERATION_SHIFT 42
#define SPACE_SHIFT	 57

int link_id_pack(const struct link_id_parts *parts, uint64_t *ret_link_id,
		 struct error *err)
{
	if (parts->space < LINK_SPACE_MIN || parts->space > LINK_SPACE_MAX)
		return error_set(err, ERROR_INPUT,
				 "space number %u is not from %d to %d",
				 parts->space, LINK_SPACE_MIN, LINK_SPACE_MAX);
	if (parts->generation < 1 || parts->generation > LINK_GENERATION_MAX)
		return error_set(err, ERROR_INPUT,
				 "generation %u is not from 1 to %d",
				 parts->generation, LINK_GENERATION_MAX);
	if (parts->id > LINK_ID_MAX)
		return error_set(err, ERROR_INPUT,
				 "id %" PRIu64 " does not fit 42 bits",
				 parts->id);
	*ret_link_id = (uint64_t)parts->space << SPACE_SHIFT |
		       (uint64_t)parts->generation << GENERATION_SHIFT |
		       parts->id;
	return 0;
}

struct link_id_parts link_id_unpack(uint64_t link_id)
{
	return (struct link_id_parts){
		.space = (unsigned)(link_id >> SPACE_SHIFT),
		.generation = (unsigned)(link_id >> GENERATION_SHIFT) &
			      LINK_GENERATION_MAX,
		.id = link_id & LINK_ID_MAX,
	};
}

uint64_t link_id_blockless(uint64_t snowflake)
{
	return (uint64_t)LINK_SPACE_BLOCKLESS << SPACE_SHIFT | snowflake;
}

bool link_id_is_blockless(uint64_t link_id)
{
	return link_id >> SPACE_SHIFT == LINK_SPACE_BLOCKLESS;
}
