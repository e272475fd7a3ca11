/*
 * rate_limiter.h - limits the rate of a key's requests: a token bucket.
 *
 * The bucket holds `burst` tokens and is filled with `count` of them a period,
 * evenly.  It is kept as one instant (token_bucket.h), so that taking is one
 * compare-and-swap and all threads of a process share a bucket without a lock.
 * Every process has its own buckets: N allocators behind one address allow a
 * key N times its rate.
 *
 * A request costs one token, and so does a line of a batch (the batch's own
 * request costs none).  A request without a token is answered 429; a batch
 * stops reading for as long as rate_limiter_take says and then continues: it
 * never fails because of the limit.
 *
 * Thread-safe; a NULL limiter has no limit.
 */
#ifndef COMMON_KEYS_RATE_LIMITER_H
#define COMMON_KEYS_RATE_LIMITER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"

#define RATE_COUNT_MAX 1000000 /* for `count` and for `burst` */

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

/* Reads two settings of a program: the rate of keys without rate=, or "none"
 * (count 0: they have no limit), and its burst.  `setting` names the first in
 * errors; ERROR_CONFIG. */
int rate_rule_read(const char *setting, const char *rate, int64_t burst,
		   struct rate_rule *ret, struct error *err);

struct rate_limiter;

/* The bucket starts full. */
struct rate_limiter *rate_limiter_new(const struct rate_rule *rule,
				      struct error *err);
void rate_limiter_free(struct rate_limiter *l); /* NULL accepted */

/* Changes the rule; tokens already taken stay taken. */
void rate_limiter_set(struct rate_limiter *l, const struct rate_rule *rule);

/*
 * Takes n tokens (more than the bucket can hold counts as a full one) at `now`
 * of clock_monotonic_ns.  Returns false if there are fewer: nothing was taken,
 * and *ret_wait_ms is the time until a retry, at least 1.
 */
bool rate_limiter_take(struct rate_limiter *l, unsigned n, int64_t now,
		       int64_t *ret_wait_ms);

struct rate_state {
	bool limited;
	uint64_t burst, left;
	int64_t window_ms; /* time in which an empty bucket fills */
	int64_t full_ms;   /* time until this one is full; 0: it is */
};
void rate_limiter_look(const struct rate_limiter *l, int64_t now,
		       struct rate_state *ret);

#endif
