/* renew.h - renews the life of a link after a visit */
#ifndef LINKSTORE_BLOCK_RENEW_H
#define LINKSTORE_BLOCK_RENEW_H

#include "linkstore/block/lookup.h"

struct link_renewal {
	/* The link's remaining time (ms, DURATION_NEVER); 0 if the link is gone
	 * or the code has another owner (the visit stays valid). */
	int64_t left;
	/* The link's new end, exactly as Redis has it and by its clock (ms
	 * since 1970); 0: it was not raised. */
	int64_t end;
};

/*
 * Renews a link that a visit found: raises the end of the marker, if there is a
 * block, then the link's TTL.  Neither is ever lowered, and both are raised
 * only when that is due.  `renewal` is valid during the call; NULL if err is
 * set.
 */
typedef void link_renew_fn(void *arg, const struct link_renewal *renewal,
			   const struct error *err);
int link_renew_async(struct redis_async *redis,
		     const struct link_target *target,
		     const Shortloop__Link *link, link_renew_fn *fn, void *arg,
		     struct error *err);

#endif
