/*
 * visit_counter.h - visits of links that may be visited only so many times.
 *
 * Every such visit is counted in Redis before it is answered; no cache helps,
 * and while Redis cannot be asked there is no visit.  A HEAD is not counted,
 * but told from the count.  Once a link has had its visits, the cache says gone
 * for as long as the entry is fresh.
 *
 * Such a link is renewed by visits that were allowed, and by no others: else
 * those that come too late would keep it, and its block, for ever.
 *
 * One per thread, on its loop.
 */
#ifndef REDIRECTOR_VISIT_COUNTER_H
#define REDIRECTOR_VISIT_COUNTER_H

#include "common/http/http_server.h"
#include "common/loop/loop.h"
#include "common/redis/redis_async.h"
#include "linkstore/linkstore.h"
#include "redirector/counts.h"
#include "redirector/link_cache.h"
#include "redirector/lookups.h"

struct visit_counter;

/* Everything must outlive the counter. */
struct visit_counter_options {
	struct loop *loop;
	struct redis_async *redis;
	const struct linkstore *store;
	struct link_cache *cache;
	struct lookups *lookups;
	struct counts *counts;
	int64_t negative_ttl; /* ms that the absence of a link is remembered */
};

/* Once per visit.  `link` is valid during the call; its outcome is
 * LINK_OUTCOME_GONE when the visit was one too many or the link has ended.
 * NULL: nobody knows, and err says why. */
typedef void visit_counted_fn(void *arg, struct http_request *req,
			      const struct cached_link *link,
			      const struct error *err);

struct visit_counter *
visit_counter_new(const struct visit_counter_options *options,
		  visit_counted_fn *fn, void *arg, struct error *err);
/* Only once the redis_async is freed, which ends what is in flight.  NULL
 * accepted. */
void visit_counter_free(struct visit_counter *v);

/* Copies `link`, which has max_visits.  Never calls back before it returns; on
 * failure never at all. */
int visit_count(struct visit_counter *v, struct http_request *req,
		struct http_slice code, const struct cached_link *link,
		struct error *err);

#endif
