/*
 * link_cache.h - what one thread knows of links, so that most visits need no
 * Redis.
 *
 * A table with open addressing (linear probing, deletion by shifting back), the
 * hash keyed, since visitors choose the codes.  Bounded in bytes: when full,
 * the second-chance algorithm (CLOCK: F. J. Corbato, 1968) lets go of what was
 * not visited since the hand last came by.  Entries lie in a ring
 * (record_ring.h), in the order of the clock, so that a cache that is full
 * takes no other memory than it has: what was visited moves to the front.
 *
 * An entry has two ends.  Until `fresh_until` it is the answer, while it is
 * known to be current (freshness.h); else, and before `stale_until`, it may
 * only stand in while Redis cannot be asked.
 *
 * Belongs to one thread.  Times are monotonic ms.
 */
#ifndef REDIRECTOR_LINK_CACHE_H
#define REDIRECTOR_LINK_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/error.h"
#include "common/http/http_server.h"
#include "linkstore/block/lookup.h"
#include "redirector/device.h"
#include "redirector/freshness.h"
#include "redirector/pass_through.h"

struct cached_link {
	enum link_outcome outcome;
	int status; /* of a redirect: 302, 301, 307, 308 */
	int64_t fresh_until;
	int64_t stale_until;	     /* equal to fresh_until: never stands in */
	int64_t expires;	     /* of the link itself; INT64_MAX: never */
	struct freshness_mark asked; /* when it was what Redis says */
	const char *domain;	     /* that the link is bound to; "": none */
	uint8_t space;		     /* its index in the linkstore */
	/* Of a redirect: link_lines_put of each device, end to end,
	 * and where they end.  A device without a target has none of its own;
	 * device 0, the first, are all others. */
	struct http_slice lines;
	uint32_t line_ends[DEVICES];
	/* enum landing of each.  One that is a page has what it opens and its
	 * fallback in place of lines (link_lines_put_landing). */
	uint8_t landings[DEVICES];
	struct pass_through pass;
	struct http_slice event; /* click_link_part */
	/* Of a link that may be visited so many times: */
	uint64_t max_visits; /* 0: any number */
	uint64_t link_id;
	bool renew; /* the next visit that is allowed ought to renew it */
};

/* A copy in one piece of memory, for free(); NULL: out of memory. */
struct cached_link *cached_link_copy(const struct cached_link *link);

/* The code of a target, as caches are asked for it; part of the target. */
static inline struct http_slice
link_target_code(const struct link_target *target)
{
	return (struct http_slice){target->code, strlen(target->code)};
}

struct link_cache;

/* `max_bytes` bounds table and entries together.  All are taken at once, but
 * the system gives the memory of entries when it is first written to. */
struct link_cache *link_cache_new(size_t max_bytes, struct error *err);
void link_cache_free(struct link_cache *cache); /* NULL accepted */

/* The entry for a code, until the next put, or NULL.  An entry that is stale is
 * handed out too: compare fresh_until. */
struct cached_link *link_cache_get(struct link_cache *cache,
				   struct http_slice code, int64_t now);

/* Copies `link`, which is none of the cache's own, in place of what was known
 * of the code.  What takes more than an eighth of the cache is not kept; the
 * old entry is gone then too. */
void link_cache_put(struct link_cache *cache, struct http_slice code,
		    const struct cached_link *link);

/* Forgets what was known of the code, if anything. */
void link_cache_remove(struct link_cache *cache, struct http_slice code);

struct link_cache_stats {
	size_t entries;
	size_t bytes;	    /* of the table, and of these entries */
	uint64_t evictions; /* for want of room */
};

struct link_cache_stats link_cache_stats(const struct link_cache *cache);

#endif
