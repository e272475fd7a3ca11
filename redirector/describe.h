/*
 * describe.h - from what Redis has of a code to what the cache keeps of it.
 *
 * Belongs to one thread.
 */
#ifndef REDIRECTOR_DESCRIBE_H
#define REDIRECTOR_DESCRIBE_H

#include "common/buf.h"
#include "common/error.h"
#include "linkstore/block/lookup.h"
#include "linkstore/linkstore.h"
#include "redirector/link_cache.h"

/* How long things are known, in ms. */
struct describe_times {
	int64_t ttl;	      /* that a link stays fresh */
	int64_t negative_ttl; /* the same for the absence of one */
	int64_t stale;	      /* that a link may stand in */
};

struct describer {
	const struct linkstore *store;
	struct describe_times times;
	struct buf event, lines; /* of the link being described */
};

void describer_release(struct describer *d);

/*
 * `asked` is when Redis was asked, `now` the present, both monotonic ms.  A
 * link that may not be visited yet is described as one that is not there.
 * *ret_link points into the describer and the answer.  ERROR_PROTOCOL when the
 * record makes no redirect.
 */
int describe_link(struct describer *d, const struct link_target *target,
		  const struct link_answer *answer, int64_t asked, int64_t now,
		  struct cached_link *ret_link, struct error *err);

/* How long after a renewal the link comes due again; INT64_MAX: never. */
int64_t renew_interval(const struct linkstore *store,
		       const Shortloop__Link *link);

#endif
