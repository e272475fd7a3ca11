#include "redirector/link_cache.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"

/* An entry with its strings takes 200-400 bytes: with a slot for every 256 the
 * table is seldom what is full first. */
#define BYTES_PER_SLOT 256
#define SLOTS_MIN      64
/* What malloc keeps beside an allocation. */
#define MALLOC_OVERHEAD 16

struct entry {
	struct cached_link link;
	struct entry *newer, *older; /* the ring of the clock, as a list */
	uint64_t hash;
	size_t cost;
	bool visited;
	uint8_t code_len;
	char data[]; /* code, domain, lines, event */
};

struct link_cache {
	struct entry **slots;
	size_t mask; /* slots - 1: a power of two */
	size_t max_bytes;
	struct entry *newest, *oldest;
	struct link_cache_stats stats;
	struct hash_key hash_key; /* visitors choose the codes */
};

struct link_cache *link_cache_new(size_t max_bytes, struct error *err)
{
	struct link_cache *cache = calloc(1, sizeof(*cache));
	size_t slots = SLOTS_MIN;

	if (!cache)
		goto no_memory;
	while (slots * 2 <= max_bytes / BYTES_PER_SLOT)
		slots *= 2;
	cache->mask = slots - 1;
	cache->max_bytes = max_bytes;
	cache->stats.bytes = sizeof(*cache) + slots * sizeof(*cache->slots);
	cache->slots = calloc(slots, sizeof(*cache->slots));
	if (!cache->slots)
		goto no_memory;
	if (hash_key_make(&cache->hash_key, err) == 0)
		return cache;
	link_cache_free(cache);
	return NULL;
no_memory:
	link_cache_free(cache);
	error_set_nomem(err);
	return NULL;
}

void link_cache_free(struct link_cache *cache)
{
	struct entry *next;

	if (!cache)
		return;
	for (struct entry *e = cache->newest; e; e = next) {
		next = e->older;
		free(e);
	}
	free(cache->slots);
	free(cache);
}

/* The slot that holds the code, or the free one where it would go. */
static size_t find_slot(const struct link_cache *cache, uint64_t hash,
			struct http_slice code)
{
	size_t i = hash & cache->mask;
	const struct entry *e;

	for (; (e = cache->slots[i]); i = (i + 1) & cache->mask) {
		if (e->hash == hash && e->code_len == code.len &&
		    !memcmp(e->data, code.data, code.len))
			break;
	}
	return i;
}

static void list_push(struct link_cache *cache, struct entry *e)
{
	e->newer = NULL;
	e->older = cache->newest;
	if (e->older)
		e->older->newer = e;
	else
		cache->oldest = e;
	cache->newest = e;
}

static void list_take(struct link_cache *cache, struct entry *e)
{
	if (e->newer)
		e->newer->older = e->older;
	else
		cache->newest = e->older;
	if (e->older)
		e->older->newer = e->newer;
	else
		cache->oldest = e->newer;
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

static void remove_at(struct link_cache *cache, size_t slot)
{
	struct entry *e = cache->slots[slot];

	empty_slot(cache, slot);
	list_take(cache, e);
	cache->stats.bytes -= e->cost;
	cache->stats.entries--;
	free(e);
}

static void evict_one(struct link_cache *cache)
{
	struct entry *e = cache->oldest;
	size_t slot;

	while (e->visited) {
		e->visited = false;
		list_take(cache, e);
		list_push(cache, e);
		e = cache->oldest;
	}
	slot = e->hash & cache->mask;
	while (cache->slots[slot] != e)
		slot = (slot + 1) & cache->mask;
	remove_at(cache, slot);
	cache->stats.evictions++;
}

static bool is_full(const struct link_cache *cache, size_t cost)
{
	/* Probing stays short while an eighth of the slots is free. */
	return cache->stats.bytes + cost > cache->max_bytes ||
	       cache->stats.entries >= cache->mask - cache->mask / 8;
}

struct cached_link *link_cache_get(struct link_cache *cache,
				   struct http_slice code, int64_t now)
{
	uint64_t hash = hash_bytes(&cache->hash_key, code.data, code.len);
	size_t slot = find_slot(cache, hash, code);
	struct entry *e = cache->slots[slot];

	if (!e)
		return NULL;
	if (now >= e->link.stale_until && now >= e->link.fresh_until) {
		remove_at(cache, slot);
		return NULL;
	}
	e->visited = true;
	return &e->link;
}

static const char *append(char **at, const char *from, size_t len)
{
	char *to = *at;

	if (len)
		memcpy(to, from, len);
	*at += len;
	return to;
}

static size_t text_size(const struct cached_link *link)
{
	return strlen(link->domain) + 1 + link->lines.len + link->event.len;
}

static void copy_texts(struct cached_link *to, const struct cached_link *from,
		       char *at)
{
	to->domain = append(&at, from->domain, strlen(from->domain) + 1);
	to->lines.data = append(&at, from->lines.data, from->lines.len);
	to->event.data = append(&at, from->event.data, from->event.len);
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

static size_t cost_of(struct http_slice code, const struct cached_link *link)
{
	return MALLOC_OVERHEAD + sizeof(struct entry) + code.len +
	       text_size(link);
}

static struct entry *entry_new(struct http_slice code,
			       const struct cached_link *link, size_t cost)
{
	struct entry *e = malloc(cost - MALLOC_OVERHEAD);
	char *at;

	if (!e)
		return NULL;
	*e = (struct entry){.link = *link, .cost = cost};
	e->code_len = (uint8_t)code.len;
	at = e->data;
	append(&at, code.data, code.len);
	copy_texts(&e->link, link, at);
	return e;
}

void link_cache_put(struct link_cache *cache, struct http_slice code,
		    const struct cached_link *link)
{
	uint64_t hash = hash_bytes(&cache->hash_key, code.data, code.len);
	size_t slot = find_slot(cache, hash, code);
	size_t cost = cost_of(code, link);
	struct entry *e;

	if (cache->slots[slot])
		remove_at(cache, slot);
	if (code.len > UINT8_MAX || cost > cache->max_bytes / 8)
		return;
	while (cache->stats.entries && is_full(cache, cost))
		evict_one(cache);
	if (is_full(cache, cost))
		return;
	e = entry_new(code, link, cost);
	if (!e)
		return;
	e->hash = hash;
	cache->slots[find_slot(cache, hash, code)] = e;
	list_push(cache, e);
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
