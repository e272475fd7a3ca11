/*
 * rate_limiter.h - how often a key may ask: a token bucket.
 *
 * The bucket holds `burst` tokens and is filled with `count` of them a period,
 * evenly.  It is kept as one instant (token_bucket.h), so that taking is one
 * compare-and-swap and all threads of a process share a bucket without a lock.
 * Every process has buckets of its own: N allocators behind one address let a
 * key do N times its rate.
 *
 * A request costs one token, and so does a line of a batch (the batch's own
 * request costs none).  A request that finds none is answered 429; a batch
 * stops reading for as long as rate_limiter_take says and then goes on, it
 * never fails for it.
 *
 * Thread-safe; a NULL limiter knows no limit.
 */
#ifndef COMMON_KEYS_RATE_LIMITER_H
#define COMMON_KEYS_RATE_LIMITER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"

#define RATE_COUNT_MAX 1000000 /* of `count` and of `burst` */

struct rate_rule {
	uint64_t count;	   /* tokens a period; 0: no limit */
	int64_t period_ms; /* CLOCK_SECOND, CLOCK_MINUTE or CLOCK_HOUR */
	uint64_t burst;	   /* tokens the bucket holds */
};

/* Reads "100/s", "5/m" or "1000/h" into count and period, burst as count.
 * ERROR_INPUT otherwise. */
int rate_rule_parse(const char *text, struct rate_rule *ret, struct error *err);
/* Reads a burst, 1 to RATE_COUNT_MAX. */
int rate_burst_parse(const char *text, uint64_t *ret, struct error *err);

/* Reads two settings of a program: the rate of keys whose line says none, or
 * "none" (count 0: they have no limit), and its burst.  `setting` names the
 * first in errors; ERROR_CONFIG. */
int rate_rule_read(const char *setting, const char *rate, int64_t burst,
		   struct rate_rule *ret, struct error *err);

struct rate_limiter;

/* Starts full. */
struct rate_limiter *rate_limiter_new(const struct rate_rule *rule,
				      struct error *err);
void rate_limiter_free(struct rate_limiter *l); /* NULL accepted */

/* Changes the rule; what has been taken stays taken. */
void rate_limiter_set(struct rate_limiter *l, const struct rate_rule *rule);

/*
 * Takes n tokens (more than the bucket can hold counts as a full one) at `now`
 * of clock_monotonic_ns.  False: there are not as many; *ret_wait_ms is when to
 * ask again, at least 1, and nothing was taken.
 */
bool rate_limiter_take(struct rate_limiter *l, unsigned n, int64_t now,
		       int64_t *ret_wait_ms);

struct rate_state {
	bool limited;
	uint64_t burst, left;
	int64_t window_ms; /* an empty bucket is full after */
	int64_t full_ms;   /* and this one after; 0: it is */
};
void rate_limiter_look(const struct rate_limiter *l, int64_t now,
		       struct rate_state *ret);

#endif
