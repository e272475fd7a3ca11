/* map.h - maps numbers to numbers, with open addressing; 0 is no key and no
 * value. */
#ifndef TESTS_MODEL_MAP_H
#define TESTS_MODEL_MAP_H

#include <stdint.h>
#include <stdlib.h>

#include "tests/model/rng.h"

struct map_entry {
	uint64_t key, value;
};

struct map {
	struct map_entry *entries;
	size_t room, count;
};

static inline struct map_entry *map_place(const struct map *m, uint64_t key)
{
	struct rng mix = {key};
	size_t i = rng_next(&mix) & (m->room - 1);

	while (m->entries[i].key && m->entries[i].key != key)
		i = (i + 1) & (m->room - 1);
	return &m->entries[i];
}

static inline void map_grow(struct map *m)
{
	struct map bigger = {.room = m->room ? 2 * m->room : 1024};

	bigger.entries = calloc(bigger.room, sizeof(*bigger.entries));
	if (!bigger.entries)
		abort();
	for (size_t i = 0; i < m->room; i++)
		if (m->entries[i].key)
			*map_place(&bigger, m->entries[i].key) = m->entries[i];
	bigger.count = m->count;
	free(m->entries);
	*m = bigger;
}

static inline uint64_t map_get(const struct map *m, uint64_t key)
{
	return m->room ? map_place(m, key)->value : 0;
}

static inline void map_put(struct map *m, uint64_t key, uint64_t value)
{
	struct map_entry *e;

	if (2 * (m->count + 1) > m->room)
		map_grow(m);
	e = map_place(m, key);
	m->count += !e->key;
	*e = (struct map_entry){key, value};
}

static inline void map_free(struct map *m)
{
	free(m->entries);
}

#endif
