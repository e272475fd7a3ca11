/* store_step.h - what follows on Redis' answer to a try to store a link. */
#ifndef ALLOCATOR_CREATE_STORE_STEP_H
#define ALLOCATOR_CREATE_STORE_STEP_H

#include <stdbool.h>

#include "common/error.h"

enum store_step {
	STORE_DONE,	 /* the link is there */
	STORE_AGAIN,	 /* send the very same link again: it counts once */
	STORE_ELSEWHERE, /* ask the strategy whether to take another code */
	STORE_FAILED,
};

/* Was the answer lost?  The link may be stored then. */
bool store_answer_is_lost(const struct error *err);

/*
 * `err`: of this try; NULL: none.  `is_up`: Redis is there to be asked again.
 * `is_unsure`: the answer to an earlier try was lost.  `has_key`: an
 * Idempotency-Key was sent, which must not get two links: while the fate of an
 * earlier try is not known, no other code is taken for it.
 */
enum store_step store_next_step(const struct error *err, bool is_up,
				bool is_unsure, bool has_key);

#endif
