/*
 * standalone.h - stores links that belong to no block: those of strategies
 * hash, snowflake and alias.  Such a link has a slot of its own, under
 * l:{code}.
 */
#ifndef LINKSTORE_STANDALONE_H
#define LINKSTORE_STANDALONE_H

#include <stdint.h>

#include "common/redis/redis.h"
#include "common/redis/redis_async.h"
#include "linkstore/linkstore.h"
#include "linkstore/target.h"
#include "schemas/link.pb-c.h"

/* Fills the fields that the store decides, like link_prepare: link_id (made by
 * link_id_blockless), generation 0, version 1, TTL class and ttl_ms.  `link`
 * keeps its other fields; its ttl_class points into the store. */
void standalone_prepare(const struct link_class *ttl, uint64_t link_id,
			Shortloop__Link *link);

enum standalone_outcome {
	STANDALONE_CREATED, /* now, or by an earlier try of the same link */
	STANDALONE_TAKEN,   /* another link, or its tombstone, has this code */
	/* Another link had this alias, and ended less than a quarantine ago. */
	STANDALONE_QUARANTINED,
};

struct standalone_result {
	enum standalone_outcome outcome;
	int64_t expires; /* CREATED: ms by Redis' clock, or DURATION_NEVER */
	/* TAKEN: the link that is there and its remaining time (ms,
	 * DURATION_NEVER).  The hash strategy compares URL and owner. */
	const Shortloop__Link *existing;
	int64_t existing_left; /* QUARANTINED: ms until it is free */
};

/*
 * Stores a prepared link under a target without a block, unless a link is there
 * already.  `deadline` (ms by Redis' clock; 0: none): after this nothing is
 * stored, which is ERROR_LATE.  ERROR_REMOTE, retriable: the result is unknown;
 * the same link may be sent again and then counts once.
 *
 * `result` is valid during the call; it is NULL if err is set.
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
