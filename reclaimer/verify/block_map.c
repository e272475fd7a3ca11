#include "reclaimer/verify/block_map.h"

#include <stdlib.h>
#include <string.h>

static size_t words(uint64_t blocks)
{
	return (size_t)((blocks + 63) / 64);
}

int block_map_init(struct block_map *map, uint64_t blocks, struct error *err)
{
	*map = (struct block_map){0, blocks, NULL, NULL};
	map->seen = calloc(words(blocks) + 1, sizeof(*map->seen));
	map->counted = calloc(words(blocks) + 1, sizeof(*map->counted));
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
	size_t bytes = words(end - first) * sizeof(*map->seen);

	map->first = first;
	map->end = end;
	memset(map->seen, 0, bytes);
	memset(map->counted, 0, bytes);
}

static bool mark(uint64_t *bits, uint64_t at)
{
	uint64_t bit = UINT64_C(1) << at % 64;
	bool fresh = !(bits[at / 64] & bit);

	bits[at / 64] |= bit;
	return fresh;
}

bool block_map_see(struct block_map *map, uint64_t block)
{
	return mark(map->seen, block - map->first);
}

bool block_map_count(struct block_map *map, uint64_t block)
{
	return mark(map->counted, block - map->first);
}

static bool is_seen(const struct block_map *map, uint64_t block)
{
	uint64_t at = block - map->first;

	return map->seen[at / 64] >> at % 64 & 1;
}

bool block_map_unseen(const struct block_map *map, uint64_t at,
		      uint64_t *ret_first, uint64_t *ret_last)
{
	while (at < map->end && is_seen(map, at)) {
		/* Whole words at a time where all are seen. */
		if ((at - map->first) % 64 == 0 &&
		    map->seen[(at - map->first) / 64] == UINT64_MAX)
			at += 64;
		else
			at++;
	}
	if (at >= map->end)
		return false;
	*ret_first = at;
	while (at < map->end && !is_seen(map, at)) {
		if ((at - map->first) % 64 == 0 &&
		    map->seen[(at - map->first) / 64] == 0)
			at += 64;
		else
			at++;
	}
	*ret_last = (at < map->end ? at : map->end) - 1;
	return true;
}
