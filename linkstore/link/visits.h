/*
 * visits.h - counting the visits of a link that may have only so many
 * (Link.max_visits).  The count lives and ends with the link, or with its
 * tombstone.
 */
#ifndef LINKSTORE_LINK_VISITS_H
#define LINKSTORE_LINK_VISITS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/redis/redis.h"
#include "common/redis/redis_async.h"
#include "linkstore/linkstore.h"
#include "linkstore/target.h"

/*
 * Counts one visit of the link `link_id`.  `allowed`: it is among the first
 * `max`; a visit that is refused is not counted.  `used`: visits counted so
 * far, this one included.  Both count only when err is NULL.  ERROR_NOTFOUND:
 * the link is gone or deleted, or the code another's.  ERROR_REMOTE, retriable:
 * unknown; sent again, it may count twice.
 */
typedef void link_counted_fn(void *arg, bool allowed, uint64_t used,
			     const struct error *err);
int link_count_visit_async(struct redis_async *redis,
			   const struct link_target *target, uint64_t link_id,
			   uint64_t max, link_counted_fn *fn, void *arg,
			   struct error *err);

/* How many visits of this link have been counted. */
typedef void link_visits_fn(void *arg, uint64_t used, const struct error *err);
int link_read_visits_async(struct redis_async *redis,
			   const struct link_target *target, uint64_t link_id,
			   link_visits_fn *fn, void *arg, struct error *err);

#endif
