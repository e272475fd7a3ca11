/*
 * code_facts.h - reads what Redis has of a code: its link, as a visit finds it,
 * the marker of its block, and its counted visits.  For explanations; a visit
 * needs less.
 */
#ifndef LINKSTORE_LINK_CODE_FACTS_H
#define LINKSTORE_LINK_CODE_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/redis/redis_async.h"
#include "linkstore/block/lookup.h"
#include "linkstore/marker.h"

struct code_facts {
	struct link_target target;
	struct link_answer answer; /* its link is valid as long as the facts */
	bool has_marker;	   /* false also for a damaged one */
	struct link_marker marker;
	uint64_t visits; /* of a link with max_visits */
};

/* `facts` are valid during the call; NULL if err is set.  They are read one
 * after the other: a link that changes meanwhile may have a newer marker. */
typedef void code_facts_fn(void *arg, const struct code_facts *facts,
			   const struct error *err);
int code_facts_read_async(struct redis_async *redis,
			  const struct link_target *target, code_facts_fn *fn,
			  void *arg, struct error *err);

#endif
