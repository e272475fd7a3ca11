/* store_step.h - the step that follows Redis' answer to a try to store a
 * link. */
#ifndef ALLOCATOR_CREATE_STORE_STEP_H
#define ALLOCATOR_CREATE_STORE_STEP_H

#include <stdbool.h>

#include "common/error.h"

enum store_step {
	STORE_DONE,	 /* the link is stored */
	STORE_AGAIN,	 /* send the same link again: it counts once */
	STORE_ELSEWHERE, /* ask the strategy whether to take another code */
	STORE_FAILED,
};

/* Returns whether the answer was lost.  The link may be stored then. */
bool store_answer_is_lost(const struct error *err);

/*
 * `err`: the error of this try; NULL: none.  `is_up`: Redis can be asked again.
 * `is_unsure`: the answer to an earlier try was lost.  `has_key`: the request
 * has an Idempotency-Key, which must not get two links: no other code is taken
 * while the result of an earlier try is unknown.
 */
enum store_step store_next_step(const struct error *err, bool is_up,
				bool is_unsure, bool has_key);

#endif
