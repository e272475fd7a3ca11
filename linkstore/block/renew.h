/* renew.h - a visit gives its link a new life */
#ifndef LINKSTORE_BLOCK_RENEW_H
#define LINKSTORE_BLOCK_RENEW_H

#include "linkstore/block/lookup.h"

/*
 * Renews a link that a visit found: raises the marker's end, if there is a
 * block, then the link's TTL, neither ever lowered, and only when that is due.
 * `left`: what the link has left now (ms), 0 when it is gone or someone
 * else's (the visit stays valid; nothing was renewed), DURATION_NEVER.
 */
typedef void link_renew_fn(void *arg, int64_t left, const struct error *err);
int link_renew_async(struct redis_async *redis,
		     const struct link_target *target,
		     const Shortloop__Link *link, link_renew_fn *fn, void *arg,
		     struct error *err);

#endif
