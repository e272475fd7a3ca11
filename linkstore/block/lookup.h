/*
 * lookup.h - looks up the link of a code in Redis, for a visit.
 *
 * It takes one round trip: link and marker by MGET, the link's remaining life
 * by PTTL.  A link without a block has no marker; if it is absent it is
 * unknown, never gone.  All look-ups of one loop turn are sent in one write.
 */
#ifndef LINKSTORE_BLOCK_LOOKUP_H
#define LINKSTORE_BLOCK_LOOKUP_H

#include <stdbool.h>
#include <stdint.h>

#include "common/redis/redis.h"
#include "common/redis/redis_async.h"
#include "linkstore/linkstore.h"
#include "linkstore/target.h"
#include "schemas/link.pb-c.h"

enum link_outcome {
	LINK_OUTCOME_REDIRECT,
	LINK_OUTCOME_UNKNOWN, /* 404: never issued, as far as is known */
	LINK_OUTCOME_GONE,    /* 410: expired, or deleted (`link` is set) */
	LINK_OUTCOME_BLOCKED, /* 451 */
	LINK_OUTCOME_PAUSED,  /* 410, by its owner's decision */
};

struct link_answer {
	enum link_outcome outcome;
	const Shortloop__Link *link; /* NULL if Redis has none */
	/* LINK_OUTCOME_GONE without a link: the id of the link that had the
	 * code; 0 if that is not certain. */
	uint64_t former_id;
	int64_t ttl_left;  /* ms; DURATION_NEVER; 0 without link */
	int64_t begins_in; /* ms until it may be visited; 0: now */
	bool renew;	   /* this visit should call link_renew */
};

/* For link_reader.c.  `record` and `marker` are Redis' values, nil if there is
 * none; the marker of a link without a block is not looked at.  The answer is
 * to be released. */
int link_lookup_evaluate(const struct link_target *target,
			 const redisReply *record, const redisReply *marker,
			 int64_t pttl, struct link_answer *ret_answer,
			 struct error *err);
void link_lookup_release(struct link_answer *answer);

/* `answer` and its link are valid during the call; NULL if err is set. */
typedef void link_lookup_fn(void *arg, const struct link_answer *answer,
			    const struct error *err);
int link_lookup_async(struct redis_async *redis,
		      const struct link_target *target, link_lookup_fn *fn,
		      void *arg, struct error *err);

#endif
