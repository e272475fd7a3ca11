/*
 * visit_count.h - counts the visits of a link with a limit (Link.max_visits),
 * and its fetches that are not visits.  The counts live and end with the link,
 * or with its tombstone.
 */
#ifndef LINKSTORE_LINK_VISIT_COUNT_H
#define LINKSTORE_LINK_VISIT_COUNT_H

#include <stdint.h>

#include "common/redis/redis_async.h"
#include "linkstore/linkstore.h"
#include "linkstore/target.h"

enum visit_count {
	VISIT_COUNTED,
	VISIT_NONE_LEFT, /* all visits are used; nothing was counted */
	FETCH_NONE_LEFT, /* all fetches are used, and visits are left */
};

/*
 * `used`: visits counted so far, including this one.  Both values are valid if
 * err is NULL.  ERROR_NOTFOUND: the link is gone or deleted, or the code has
 * another owner.  ERROR_REMOTE, retriable: the result is unknown; sent again,
 * it may count twice.
 */
typedef void link_counted_fn(void *arg, enum visit_count result, uint64_t used,
			     const struct error *err);

/* Counts one visit of the link `link_id`, which may have `max`. */
int link_count_visit_async(struct redis_async *redis,
			   const struct link_target *target, uint64_t link_id,
			   uint64_t max, link_counted_fn *fn, void *arg,
			   struct error *err);

/* Counts one fetch that is not a visit, of which the link may have
 * `max_fetches`, while some of its `max` visits are left. */
int link_count_fetch_async(struct redis_async *redis,
			   const struct link_target *target, uint64_t link_id,
			   uint64_t max, uint64_t max_fetches,
			   link_counted_fn *fn, void *arg, struct error *err);

#endif
