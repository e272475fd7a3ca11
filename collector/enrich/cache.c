#include "collector/enrich/cache.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"

enum {
	BUCKETS_MIN = 1024,
	/* malloc's overhead, and the bucket. */
	ENTRY_OVERHEAD = 16 + sizeof(void *),
};

/* One allocation: the entry, then the value, then the key. */
struct cache_entry {
	struct cache_entry *next;  /* the next entry of the bucket */
	struct cache_entry *newer; /* in order of insertion */
	uint64_t hash;
	uint32_t key_len;
	uint32_t value_len;
	bool used; /* since the last check for eviction */
	alignas(max_align_t) char data[];
};

struct cache {
	struct cache_entry **buckets;
	size_t bucket_count; /* a power of two */
	struct cache_entry *oldest;
	struct cache_entry *newest;
	size_t bytes_max;
	struct cache_stats stats;
	struct hash_key hash_key; /* keys come from outsiders */
};

struct cache *cache_new(size_t bytes_max, struct error *err)
{
	struct cache *c = calloc(1, sizeof(*c));

	if (c)
		c->buckets = calloc(BUCKETS_MIN, sizeof(*c->buckets));
	if (!c || !c->buckets) {
		error_set_nomem(err);
		free(c);
		return NULL;
	}
	c->bucket_count = BUCKETS_MIN;
	c->bytes_max = bytes_max;
	if (hash_key_make(&c->hash_key, err) == 0)
		return c;
	cache_free(c);
	return NULL;
}

void cache_clear(struct cache *c)
{
	while (c->oldest) {
		struct cache_entry *next = c->oldest->newer;

		free(c->oldest);
		c->oldest = next;
	}
	c->newest = NULL;
	memset(c->buckets, 0, c->bucket_count * sizeof(*c->buckets));
	c->stats.entries = 0;
	c->stats.bytes = 0;
}

void cache_free(struct cache *c)
{
	if (!c)
		return;
	cache_clear(c);
	free(c->buckets);
	free(c);
}

static struct cache_entry **bucket_of(const struct cache *c, uint64_t hash)
{
	return &c->buckets[hash & (c->bucket_count - 1)];
}

const void *cache_get(struct cache *c, const void *key, size_t key_len,
		      size_t *ret_len)
{
	uint64_t hash = hash_bytes(&c->hash_key, key, key_len);
	struct cache_entry *e = *bucket_of(c, hash);

	for (; e; e = e->next) {
		if (e->hash != hash || e->key_len != key_len ||
		    (key_len &&
		     memcmp(e->data + e->value_len, key, key_len) != 0))
			continue;
		/* Another write would only make the cache line dirty. */
		if (!e->used)
			e->used = true;
		c->stats.hits++;
		*ret_len = e->value_len;
		return e->data;
	}
	c->stats.misses++;
	return NULL;
}

static size_t size_of(const struct cache_entry *e)
{
	return sizeof(*e) + e->key_len + e->value_len + ENTRY_OVERHEAD;
}

static void unlink_from_bucket(struct cache *c, const struct cache_entry *e)
{
	struct cache_entry **at = bucket_of(c, e->hash);

	while (*at != e)
		at = &(*at)->next;
	*at = e->next;
}

static void append_newest(struct cache *c, struct cache_entry *e)
{
	e->newer = NULL;
	if (c->newest)
		c->newest->newer = e;
	else
		c->oldest = e;
	c->newest = e;
}

/* Evicts the oldest entry that was not used since its last check. */
static void evict_one(struct cache *c)
{
	for (;;) {
		struct cache_entry *e = c->oldest;

		c->oldest = e->newer;
		if (!c->oldest)
			c->newest = NULL;
		if (e->used) {
			e->used = false;
			append_newest(c, e);
			continue;
		}
		unlink_from_bucket(c, e);
		c->stats.entries--;
		c->stats.bytes -= size_of(e);
		free(e);
		return;
	}
}

/* Doubles the buckets.  If memory runs out, chains get longer. */
static void double_buckets(struct cache *c)
{
	size_t count = c->bucket_count * 2;
	struct cache_entry **buckets = calloc(count, sizeof(*buckets));

	if (!buckets)
		return;
	free(c->buckets);
	c->buckets = buckets;
	c->bucket_count = count;
	for (struct cache_entry *e = c->oldest; e; e = e->newer) {
		struct cache_entry **at = bucket_of(c, e->hash);

		e->next = *at;
		*at = e;
	}
}

static struct cache_entry *make_entry(const void *key, size_t key_len,
				      const void *value, size_t value_len)
{
	struct cache_entry *e;

	if (key_len > UINT32_MAX || value_len > UINT32_MAX)
		return NULL;
	e = malloc(sizeof(*e) + key_len + value_len);
	if (!e)
		return NULL;
	*e = (struct cache_entry){.key_len = (uint32_t)key_len,
				  .value_len = (uint32_t)value_len};
	if (value_len)
		memcpy(e->data, value, value_len);
	if (key_len)
		memcpy(e->data + value_len, key, key_len);
	return e;
}

const void *cache_put(struct cache *c, const void *key, size_t key_len,
		      const void *value, size_t value_len)
{
	struct cache_entry **bucket;
	struct cache_entry *e;

	if (key_len + value_len + sizeof(*e) + ENTRY_OVERHEAD > c->bytes_max)
		return NULL;
	e = make_entry(key, key_len, value, value_len);
	if (!e)
		return NULL;
	while (c->stats.bytes + size_of(e) > c->bytes_max)
		evict_one(c);
	if (c->stats.entries >= c->bucket_count)
		double_buckets(c);
	e->hash = hash_bytes(&c->hash_key, key, key_len);
	bucket = bucket_of(c, e->hash);
	e->next = *bucket;
	*bucket = e;
	append_newest(c, e);
	c->stats.entries++;
	c->stats.bytes += size_of(e);
	return e->data;
}

struct cache_stats cache_stats(const struct cache *c)
{
	return c->stats;
}
