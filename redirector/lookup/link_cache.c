#include "redirector/lookup/link_cache.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "redirector/lookup/record_ring.h"

/* An entry with its strings takes 250-450 bytes: with a slot for every 256,
 * memory for entries runs out before slots do. */
#define BYTES_PER_SLOT 256
#define SLOTS_MIN      64

/* A record of the ring, which has the order of the clock, oldest first. */
struct link_entry {
	struct cached_link link;
	uint64_t hash;
	size_t cost; /* bytes in the ring */
	bool known;  /* in the table; else it waits to be dropped */
	bool visited;
	uint8_t code_len;
	char data[]; /* code, and the texts of copy_texts */
};

struct link_cache {
	struct link_entry **slots;
	size_t mask; /* slots - 1; their number is a power of two */
	struct record_ring ring;
	struct link_cache_stats stats;
	struct hash_key hash_key; /* keyed: visitors choose the codes */
};

struct link_cache *link_cache_new(size_t max_bytes, struct error *err)
{
	struct link_cache *cache = calloc(1, sizeof(*cache));
	size_t slots = SLOTS_MIN;

	if (!cache)
		goto no_memory;
	while (slots < max_bytes / BYTES_PER_SLOT)
		slots *= 2;
	cache->mask = slots - 1;
	cache->stats.bytes = sizeof(*cache) + slots * sizeof(*cache->slots);
	cache->slots = calloc(slots, sizeof(*cache->slots));
	if (!cache->slots)
		goto no_memory;
	if (max_bytes > cache->stats.bytes &&
	    record_ring_init(&cache->ring, max_bytes - cache->stats.bytes) < 0)
		goto no_memory;
	if (hash_key_make(&cache->hash_key, err) == 0)
		return cache;
	link_cache_free(cache);
	return NULL;
no_memory:
	link_cache_free(cache);
	error_set(err, ERROR_NOMEM, "no memory for a cache of %zu bytes",
		  max_bytes);
	return NULL;
}

void link_cache_free(struct link_cache *cache)
{
	if (!cache)
		return;
	record_ring_free(&cache->ring);
	free(cache->slots);
	free(cache);
}

/* Returns the slot that holds the code, or the free one where it would go. */
static size_t find_slot(const struct link_cache *cache, uint64_t hash,
			struct http_slice code)
{
	size_t i = hash & cache->mask;
	const struct link_entry *e;

	for (; (e = cache->slots[i]); i = (i + 1) & cache->mask) {
		if (e->hash == hash && e->code_len == code.len &&
		    !memcmp(e->data, code.data, code.len))
			break;
	}
	return i;
}

/* Returns the entry's slot. */
static size_t slot_of(const struct link_cache *cache,
		      const struct link_entry *e)
{
	size_t i = e->hash & cache->mask;

	while (cache->slots[i] != e)
		i = (i + 1) & cache->mask;
	return i;
}

/* Moves later entries of the same run back over the hole, so that no search
 * ends early and no tombstone is needed. */
static void empty_slot(struct link_cache *cache, size_t hole)
{
	size_t i = hole, home;

	for (;;) {
		i = (i + 1) & cache->mask;
		if (!cache->slots[i])
			break;
		home = cache->slots[i]->hash & cache->mask;
		if (((i - home) & cache->mask) < ((i - hole) & cache->mask))
			continue;
		cache->slots[hole] = cache->slots[i];
		hole = i;
	}
	cache->slots[hole] = NULL;
}

/* The bytes are free again when the hand passes. */
static void remove_at(struct link_cache *cache, size_t slot)
{
	struct link_entry *e = cache->slots[slot];

	empty_slot(cache, slot);
	e->known = false;
	cache->stats.bytes -= e->cost;
	cache->stats.entries--;
}

struct cached_link *link_cache_get(struct link_cache *cache,
				   struct http_slice code, int64_t now)
{
	uint64_t hash = hash_bytes(&cache->hash_key, code.data, code.len);
	size_t slot = find_slot(cache, hash, code);
	struct link_entry *e = cache->slots[slot];

	if (!e)
		return NULL;
	if (now >= e->link.stale_until && now >= e->link.fresh_until) {
		remove_at(cache, slot);
		return NULL;
	}
	e->visited = true;
	return &e->link;
}

static const char *append_bytes(char **at, const char *from, size_t len)
{
	char *to = *at;

	if (len)
		memcpy(to, from, len);
	*at += len;
	return to;
}

static size_t text_size(const struct cached_link *link)
{
	return strlen(link->domain) + 1 + link->lines.len + link->event.len +
	       link->hosts.len + link->url_digests.len;
}

static void copy_texts(struct cached_link *to, const struct cached_link *from,
		       char *at)
{
	to->domain = append_bytes(&at, from->domain, strlen(from->domain) + 1);
	to->lines.data = append_bytes(&at, from->lines.data, from->lines.len);
	to->event.data = append_bytes(&at, from->event.data, from->event.len);
	to->hosts.data = append_bytes(&at, from->hosts.data, from->hosts.len);
	to->url_digests.data = append_bytes(&at, from->url_digests.data,
					    from->url_digests.len);
}

struct cached_link *cached_link_copy(const struct cached_link *link)
{
	struct cached_link *copy = malloc(sizeof(*copy) + text_size(link));

	if (!copy)
		return NULL;
	*copy = *link;
	copy_texts(copy, link, (char *)(copy + 1));
	return copy;
}

/* The texts lie behind the code, in the order of copy_texts. */
static void find_texts(struct link_entry *e)
{
	const char *at = e->data + e->code_len;

	e->link.domain = at;
	e->link.lines.data = at + strlen(at) + 1;
	e->link.event.data = e->link.lines.data + e->link.lines.len;
	e->link.hosts.data = e->link.event.data + e->link.event.len;
	e->link.url_digests.data = e->link.hosts.data + e->link.hosts.len;
}

static void renew_oldest(struct link_cache *cache, struct link_entry *e)
{
	size_t slot = slot_of(cache, e);

	e->visited = false;
	e = record_ring_renew_oldest(&cache->ring, e->cost);
	find_texts(e);
	cache->slots[slot] = e;
}

/* Moves the hand until it has dropped an entry, or the remains of one. */
static void drop_one(struct link_cache *cache)
{
	struct link_entry *e;

	while ((e = record_ring_oldest(&cache->ring))->known && e->visited)
		renew_oldest(cache, e);
	if (e->known) {
		remove_at(cache, slot_of(cache, e));
		cache->stats.evictions++;
	}
	record_ring_drop_oldest(&cache->ring, e->cost);
}

static struct link_entry *place_entry(struct link_cache *cache, size_t cost)
{
	struct link_entry *e;

	/* Probing stays short while an eighth of the slots is free. */
	while (cache->stats.entries >= cache->mask - cache->mask / 8)
		drop_one(cache);
	while (!(e = record_ring_place(&cache->ring, cost)))
		drop_one(cache);
	return e;
}

static void fill_entry(struct link_entry *e, uint64_t hash,
		       struct http_slice code, const struct cached_link *link)
{
	char *at = e->data;

	e->link = *link;
	e->hash = hash;
	e->code_len = (uint8_t)code.len;
	append_bytes(&at, code.data, code.len);
	copy_texts(&e->link, link, at);
}

static size_t cost_of(struct http_slice code, const struct cached_link *link)
{
	return record_ring_round(sizeof(struct link_entry) + code.len +
				 text_size(link));
}

void link_cache_put(struct link_cache *cache, struct http_slice code,
		    const struct cached_link *link)
{
	uint64_t hash = hash_bytes(&cache->hash_key, code.data, code.len);
	size_t slot = find_slot(cache, hash, code);
	struct link_entry *e = cache->slots[slot];
	size_t cost = cost_of(code, link);

	if (e && e->cost == cost) {
		/* Common case: the link was looked up again, and is mostly
		 * unchanged. */
		fill_entry(e, hash, code, link);
		return;
	}
	if (e)
		remove_at(cache, slot);
	if (code.len > UINT8_MAX || cost > cache->ring.size / 8)
		return;
	e = place_entry(cache, cost);
	fill_entry(e, hash, code, link);
	e->cost = cost;
	e->known = true;
	e->visited = false;
	cache->slots[find_slot(cache, hash, code)] = e;
	cache->stats.bytes += cost;
	cache->stats.entries++;
}

void link_cache_remove(struct link_cache *cache, struct http_slice code)
{
	uint64_t hash = hash_bytes(&cache->hash_key, code.data, code.len);
	size_t slot = find_slot(cache, hash, code);

	if (cache->slots[slot])
		remove_at(cache, slot);
}

struct link_cache_stats link_cache_stats(const struct link_cache *cache)
{
	return cache->stats;
}
