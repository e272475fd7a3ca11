/*
 * visits.h - counting the visits of a link that may have only so many
 * (Link.max_visits), and the fetches of it that are no visits.  The counts live
 * and end with the link, or with its tombstone.
 */
#ifndef LINKSTORE_LINK_VISITS_H
#define LINKSTORE_LINK_VISITS_H

#include <stdint.h>

#include "common/redis/redis_async.h"
#include "linkstore/linkstore.h"
#include "linkstore/target.h"

enum visit_count {
	VISIT_COUNTED,
	VISIT_NONE_LEFT, /* the link has had its visits; nothing was counted */
	FETCH_NONE_LEFT, /* the same of fetches, while there are visits left */
};

/*
 * `used`: visits counted so far, this one included.  Both values count only
 * when err is NULL.  ERROR_NOTFOUND: the link is gone or deleted, or the code
 * another's.  ERROR_REMOTE, retriable: unknown; sent again, it may count twice.
 */
typedef void link_counted_fn(void *arg, enum visit_count result, uint64_t used,
			     const struct error *err);

/* Counts one visit of the link `link_id`, which may have `max`. */
int link_count_visit_async(struct redis_async *redis,
			   const struct link_target *target, uint64_t link_id,
			   uint64_t max, link_counted_fn *fn, void *arg,
			   struct error *err);

/* Counts one fetch that is no visit, of which it may have `max_fetches`, while
 * not all of its `max` visits are used. */
int link_count_fetch_async(struct redis_async *redis,
			   const struct link_target *target, uint64_t link_id,
			   uint64_t max, uint64_t max_fetches,
			   link_counted_fn *fn, void *arg, struct error *err);

#endif
