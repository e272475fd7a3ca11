/*
 * lookups.h - asks Redis for codes that the cache does not know.
 *
 * Requests for a code that is being asked for wait for the same answer.  What
 * comes back goes into the cache, and a link that is due is renewed.  One per
 * thread, on its loop; as many look-ups at once as the listener has
 * connections.
 */
#ifndef REDIRECTOR_LOOKUPS_H
#define REDIRECTOR_LOOKUPS_H

#include "common/http/http_server.h"
#include "common/loop/loop.h"
#include "common/redis/redis_async.h"
#include "linkstore/linkstore.h"
#include "redirector/counts.h"
#include "redirector/describe.h"
#include "redirector/link_cache.h"
#include "redirector/renew_gate.h"

struct lookups;

/* Everything must outlive the look-ups. */
struct lookups_options {
	struct loop *loop;
	struct redis_async *redis;
	const struct linkstore *store;
	struct link_cache *cache;
	struct renew_gate *gate;
	struct counts *counts;
	struct describe_times times;
};

/* Once per request that waited.  `link` is valid during the call; it is NULL
 * when Redis gave no usable answer, and err says why. */
typedef void lookup_done_fn(void *arg, struct http_request *req,
			    struct http_slice code,
			    const struct cached_link *link,
			    const struct error *err);

struct lookups *lookups_new(const struct lookups_options *options,
			    lookup_done_fn *fn, void *arg, struct error *err);
/* Only once the redis_async is freed, which ends what is in flight.  NULL
 * accepted. */
void lookups_free(struct lookups *l);

/* Never calls back before it returns; on failure never at all. */
int lookups_start(struct lookups *l, const struct link_target *target,
		  struct http_request *req, struct error *err);

/* Renews the link, if it is due.  Those that may be visited only so many times
 * are renewed by nothing else. */
void lookups_renew(struct lookups *l, const struct link_target *target);

#endif
