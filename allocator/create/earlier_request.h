/*
 * earlier_request.h - decides what happened to the first request with an
 * Idempotency-Key if no link has the link_id that the key's record names.
 */
#ifndef ALLOCATOR_CREATE_EARLIER_REQUEST_H
#define ALLOCATOR_CREATE_EARLIER_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "linkstore/idempotency_record.h"

enum earlier_request {
	EARLIER_ENDED,	   /* its link was stored and has ended */
	EARLIER_UNDER_WAY, /* its link may still be stored */
	EARLIER_DOUBTFUL,  /* its link ended or was never stored: unknown */
	EARLIER_FAILED,	   /* its link will never be stored, or has the code
			    * that the new request gets */
};

/*
 * `now`: Redis' clock (ms) when the record was read.  `ttl`: ms that the link
 * lives at least, or DURATION_NEVER; it is the same for the earlier request,
 * since the requests are equal.  `is_repeatable`: the same request gets the
 * same code, so two of them create one link.
 */
enum earlier_request earlier_request_judge(const struct idem_record *record,
					   int64_t now, int64_t ttl,
					   bool is_repeatable);

#endif
