/*
 * cache.h - a cache of values by key, bounded in bytes.  It evicts roughly the
 * least recently used entry (second chance).  Not thread-safe: use one per
 * thread.
 */
#ifndef COLLECTOR_ENRICH_CACHE_H
#define COLLECTOR_ENRICH_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct cache;

/* `bytes_max` covers keys, values and the overhead. */
struct cache *cache_new(size_t bytes_max, struct error *err);
void cache_free(struct cache *c); /* NULL accepted */

/* Returns the value of a key, aligned for any type, or NULL.  It is valid until
 * the next cache_put or cache_clear. */
const void *cache_get(struct cache *c, const void *key, size_t key_len,
		      size_t *ret_len);

/*
 * Copies key and value in; the key must not be there yet.  Returns the new
 * address of the value, or NULL when it is larger than the whole cache or
 * memory runs out: then the cache is slow, not wrong.
 */
const void *cache_put(struct cache *c, const void *key, size_t key_len,
		      const void *value, size_t value_len);

void cache_clear(struct cache *c);

struct cache_stats {
	uint64_t hits;
	uint64_t misses;
	size_t entries;
	size_t bytes;
};
struct cache_stats cache_stats(const struct cache *c);

#endif
