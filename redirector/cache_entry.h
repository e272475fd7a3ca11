/*
 * cache_entry.h - makes the cache's entry of a link out of what Redis has of
 * its code.
 *
 * Belongs to one thread.
 */
#ifndef REDIRECTOR_CACHE_ENTRY_H
#define REDIRECTOR_CACHE_ENTRY_H

#include "common/buf.h"
#include "common/error.h"
#include "linkstore/block/lookup.h"
#include "linkstore/linkstore.h"
#include "redirector/link_cache.h"

/* How long an entry is good for, in ms. */
struct cache_entry_times {
	int64_t ttl;	      /* that a link stays fresh */
	int64_t negative_ttl; /* the same for the absence of one */
	int64_t stale;	      /* that a link may stand in */
};

struct cache_entry_builder {
	const struct linkstore *store;
	struct cache_entry_times times;
	struct buf event, lines; /* of the entry that was built last */
};

void cache_entry_builder_release(struct cache_entry_builder *b);

/*
 * `asked` is when Redis was asked, `now` the present, both monotonic ms.  A
 * link that may not be visited yet gives the entry of one that is not there.
 * *ret_entry points into the builder and the answer, until the next call.
 * ERROR_PROTOCOL when the link's record makes no redirect.
 */
int cache_entry_build(struct cache_entry_builder *b,
		      const struct link_target *target,
		      const struct link_answer *answer, int64_t asked,
		      int64_t now, struct cached_link *ret_entry,
		      struct error *err);

/* How long after a renewal the link comes due again (ms); INT64_MAX: never. */
int64_t cache_entry_renew_interval(const struct linkstore *store,
				   const Shortloop__Link *link);

#endif
