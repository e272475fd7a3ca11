#include "reclaimer/verify/block_map.h"

#include <stdlib.h>
#include <string.h>

#include "common/bits.h"

int block_map_init(struct block_map *map, uint64_t blocks, struct error *err)
{
	*map = (struct block_map){0, blocks, NULL, NULL};
	map->seen = bits_new(blocks);
	map->counted = bits_new(blocks);
	if (map->seen && map->counted)
		return 0;
	block_map_free(map);
	return error_set_nomem(err);
}

void block_map_free(struct block_map *map)
{
	free(map->seen);
	free(map->counted);
	map->seen = map->counted = NULL;
}

void block_map_turn(struct block_map *map, uint64_t first, uint64_t end)
{
	size_t bytes = bits_words(end - first) * sizeof(*map->seen);

	map->first = first;
	map->end = end;
	memset(map->seen, 0, bytes);
	memset(map->counted, 0, bytes);
}

bool block_map_see(struct block_map *map, uint64_t block)
{
	return bits_add(map->seen, block - map->first);
}

bool block_map_count(struct block_map *map, uint64_t block)
{
	return bits_add(map->counted, block - map->first);
}

bool block_map_unseen(const struct block_map *map, uint64_t at,
		      uint64_t *ret_first, uint64_t *ret_last)
{
	uint64_t blocks = map->end - map->first;
	uint64_t first = bits_next_absent(map->seen, at - map->first, blocks);

	if (first == blocks)
		return false;
	*ret_first = map->first + first;
	*ret_last = map->first + bits_next(map->seen, first, blocks) - 1;
	return true;
}
