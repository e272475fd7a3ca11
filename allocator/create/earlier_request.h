/*
 * earlier_request.h - what became of the first request with an Idempotency-Key,
 * when no link is there of the link_id that its record names.
 */
#ifndef ALLOCATOR_CREATE_EARLIER_REQUEST_H
#define ALLOCATOR_CREATE_EARLIER_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "linkstore/idempotency.h"

enum earlier_request {
	EARLIER_ENDED,	   /* its link was stored, and has ended since */
	EARLIER_UNDER_WAY, /* its link may still be stored */
	EARLIER_DOUBTFUL,  /* nobody can say whether its link has ended or
			    * was never stored */
	EARLIER_FAILED,	   /* its link was not stored and never will be, or is
			    * stored under the code that we get, too */
};

/*
 * `now`: Redis' clock (ms) when the record was read.  `ttl`: ms that the link
 * lives at least, or DURATION_NEVER; of the earlier request, too, since it was
 * the same.  `is_repeatable`: the same request gets the same code, so two of
 * them make one link.
 */
enum earlier_request earlier_request_judge(const struct idem_record *record,
					   int64_t now, int64_t ttl,
					   bool is_repeatable);

#endif
