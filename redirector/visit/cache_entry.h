/*
 * cache_entry.h - makes a link's cache entry from the answer of Redis for its
 * code.
 *
 * Belongs to one thread.
 */
#ifndef REDIRECTOR_VISIT_CACHE_ENTRY_H
#define REDIRECTOR_VISIT_CACHE_ENTRY_H

#include "common/buf.h"
#include "common/error.h"
#include "linkstore/block/lookup.h"
#include "linkstore/linkstore.h"
#include "redirector/lookup/link_cache.h"

/* How long an entry is valid, in ms. */
struct cache_entry_times {
	int64_t ttl;	      /* how long a link stays fresh */
	int64_t negative_ttl; /* how long the absence of a link stays fresh */
	int64_t stale;	      /* how long a link may stand in */
};

struct cache_entry_builder {
	const struct linkstore *store;
	struct cache_entry_times times;
	struct buf event, lines,
		hosts; /* bytes of the entry that was built last */
	unsigned char digests[DEVICES][URL_DIGEST_SIZE]; /* of its URLs */
};

void cache_entry_builder_release(struct cache_entry_builder *b);

/*
 * `asked` is the time when Redis was queried, `now` the present, both monotonic
 * ms.  A link that may not be visited yet gives the entry of a link that does
 * not exist.  *ret_entry points into the builder and the answer, and is valid
 * until the next call.  Returns ERROR_PROTOCOL when the link's record makes no
 * redirect.
 */
int cache_entry_build(struct cache_entry_builder *b,
		      const struct link_target *target,
		      const struct link_answer *answer, int64_t asked,
		      int64_t now, struct cached_link *ret_entry,
		      struct error *err);

/* Returns how long after a renewal the link is due again (ms); INT64_MAX:
 * never. */
int64_t cache_entry_renew_interval(const struct linkstore *store,
				   const Shortloop__Link *link);

#endif
