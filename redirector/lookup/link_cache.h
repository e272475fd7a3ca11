/*
 * link_cache.h - the links that one thread knows, so that most visits need no
 * Redis.
 *
 * The cache is a hash table with open addressing (linear probing, deletion by
 * shifting back); the hash is keyed, since visitors choose the codes.  Its size
 * in bytes is limited: when it is full, the second-chance algorithm (CLOCK: F.
 * J. Corbato, 1968) drops entries that were not visited since the hand last
 * passed.  Entries lie in a ring (record_ring.h), in the order of the clock, so
 * that a full cache needs no other memory: visited entries move to the front.
 *
 * An entry has two ends.  Until `fresh_until` it is the answer, as long as it
 * is known to be current (freshness.h).  Otherwise, until `stale_until`, it may
 * only stand in while Redis cannot be queried.
 *
 * Belongs to one thread.  Times are monotonic ms.
 */
#ifndef REDIRECTOR_LOOKUP_LINK_CACHE_H
#define REDIRECTOR_LOOKUP_LINK_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/error.h"
#include "common/http/http_server.h"
#include "common/url_digest.h"
#include "linkstore/block/lookup.h"
#include "linkstore/visit/visit_device.h"
#include "redirector/lookup/freshness.h"
#include "redirector/pages/pass_through.h"

struct cached_link {
	enum link_outcome outcome;
	int status; /* redirects only: 302, 301, 307, 308 */
	int64_t fresh_until;
	int64_t stale_until;	     /* equal to fresh_until: never stands in */
	int64_t expires;	     /* end of the link; INT64_MAX: never */
	struct freshness_mark asked; /* when Redis was queried for it */
	const char *domain;	     /* domain that it is bound to; "": none */
	uint8_t space;		     /* index of its space in the linkstore */
	/* Redirects only: link_lines_put of each device, end to end, and where
	 * they end.  A device without a target has no lines of its own; device
	 * 0, the first, stands for all of these. */
	struct http_slice lines;
	uint32_t line_ends[DEVICES];
	/* One enum landing per device.  A page has its URL to open and its
	 * fallback in place of lines (link_lines_put_landing). */
	uint8_t landings[DEVICES];
	/* Redirects only: the digests of the URLs, URL_DIGEST_SIZE bytes each:
	 * one per device if the link has targets, else that of device 0. */
	struct http_slice url_digests;
	struct pass_through pass;
	struct http_slice event; /* click_link_part */
	/* Redirects only: the hosts that it leads to, a line each; and whether
	 * one was denied at that revision (denied_links.h). */
	struct http_slice hosts;
	uint64_t denials;
	bool denied;
	/* For a link with a limited number of visits: */
	uint64_t max_visits; /* 0: any number */
	uint64_t link_id;
	bool renew; /* the next allowed visit should renew it */
};

/* Returns a copy in one piece of memory, for free(); NULL: out of memory. */
struct cached_link *cached_link_copy(const struct cached_link *link);

/* Returns the code of a target as a key of caches; part of the target. */
static inline struct http_slice
link_target_code(const struct link_target *target)
{
	return (struct http_slice){target->code, strlen(target->code)};
}

struct link_cache;

/* `max_bytes` is the limit for table and entries together.  All of it is
 * allocated at once, but the system provides the memory of entries when it is
 * first written. */
struct link_cache *link_cache_new(size_t max_bytes, struct error *err);
void link_cache_free(struct link_cache *cache); /* NULL accepted */

/* Returns the entry for a code, valid until the next put, or NULL.  A stale
 * entry is returned, too: compare fresh_until. */
struct cached_link *link_cache_get(struct link_cache *cache,
				   struct http_slice code, int64_t now);

/* Copies `link`, which must not be an entry of this cache, in place of the
 * code's old entry.  An entry that needs more than an eighth of the cache is
 * not kept; the old entry is gone then, too. */
void link_cache_put(struct link_cache *cache, struct http_slice code,
		    const struct cached_link *link);

/* Drops the code's entry, if there is one. */
void link_cache_remove(struct link_cache *cache, struct http_slice code);

struct link_cache_stats {
	size_t entries;
	size_t bytes;	    /* size of the table and these entries */
	uint64_t evictions; /* entries dropped to make room */
};

struct link_cache_stats link_cache_stats(const struct link_cache *cache);

#endif
