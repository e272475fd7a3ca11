/* renew.h - renews the life of a link after a visit */
#ifndef LINKSTORE_BLOCK_RENEW_H
#define LINKSTORE_BLOCK_RENEW_H

#include "linkstore/block/lookup.h"

/*
 * Renews a link that a visit found: raises the end of the marker, if there is a
 * block, then the link's TTL.  Neither is ever lowered, and both are raised
 * only when that is due.  `left`: the link's remaining time (ms,
 * DURATION_NEVER); 0 if the link is gone or the code has another owner (the
 * visit stays valid; nothing was renewed).
 */
typedef void link_renew_fn(void *arg, int64_t left, const struct error *err);
int link_renew_async(struct redis_async *redis,
		     const struct link_target *target,
		     const Shortloop__Link *link, link_renew_fn *fn, void *arg,
		     struct error *err);

#endif
