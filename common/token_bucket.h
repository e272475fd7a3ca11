/*
 * token_bucket.h - the arithmetic of a token bucket.
 *
 * A bucket holds `burst` tokens and gets one each `interval` ns.  It is stored
 * as the instant at which it will be full again, in ns of a monotonic clock:
 * the generic cell rate algorithm in its virtual scheduling form (ITU-T I.371,
 * Annex A).  If the instant has passed, the bucket is full, so a zeroed one is
 * full.  burst * interval and the clock together stay below 2^63.
 */
#ifndef COMMON_TOKEN_BUCKET_H
#define COMMON_TOKEN_BUCKET_H

#include <stdint.h>

/* Takes `tokens`, at most `burst`, and moves *full_at.  Returns 0; or, if there
 * are fewer, takes none and returns the ns, above 0, until there are enough. */
static inline int64_t token_bucket_take(int64_t interval, int64_t burst,
					int64_t tokens, int64_t now,
					int64_t *full_at)
{
	int64_t next = (*full_at > now ? *full_at : now) + tokens * interval;
	int64_t over = next - now - burst * interval;

	if (over > 0)
		return over;
	*full_at = next;
	return 0;
}

#endif
