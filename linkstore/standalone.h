/*
 * standalone.h - storing links that belong to no block: of strategies hash,
 * snowflake and alias.  Such a link is alone in its slot, under l:{code}.
 */
#ifndef LINKSTORE_STANDALONE_H
#define LINKSTORE_STANDALONE_H

#include <stdint.h>

#include "common/redis/redis.h"
#include "common/redis/redis_async.h"
#include "linkstore/linkstore.h"
#include "linkstore/target.h"
#include "schemas/link.pb-c.h"

/* Fills what the store decides, as link_prepare does: link_id (as
 * link_id_blockless makes it), generation 0, version 1, TTL class and ttl_ms.
 * `link` keeps its other fields; its ttl_class points into the store. */
void standalone_prepare(const struct link_class *ttl, uint64_t link_id,
			Shortloop__Link *link);

enum standalone_outcome {
	STANDALONE_CREATED, /* now, or by an earlier try of this very link */
	STANDALONE_TAKEN,   /* another link has this code, or its tombstone */
	/* Another link had this alias, and ended less than a quarantine ago. */
	STANDALONE_QUARANTINED,
};

struct standalone_result {
	enum standalone_outcome outcome;
	int64_t expires; /* CREATED: ms by Redis' clock, DURATION_NEVER */
	/* TAKEN: the link that is there and what it has left (ms,
	 * DURATION_NEVER).  The hash strategy compares URL and owner. */
	const Shortloop__Link *existing;
	int64_t existing_left; /* QUARANTINED: until it is free */
};

/*
 * Stores a prepared link under a target without a block, unless there is one
 * already.  `deadline` (ms by Redis' clock; 0: none): later than this nothing
 * is stored, which is ERROR_LATE.  ERROR_REMOTE, retriable: unknown; the very
 * same link may be sent again and then counts once.
 *
 * `result` is valid during the call; NULL when err is not.
 */
typedef void standalone_created_fn(void *arg,
				   const struct standalone_result *result,
				   const struct error *err);
int standalone_create_async(struct redis_async *redis,
			    const struct link_target *target,
			    const Shortloop__Link *link, int64_t deadline,
			    standalone_created_fn *fn, void *arg,
			    struct error *err);

#endif
