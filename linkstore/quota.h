/*
 * quota.h - what an account may store in a day or a month, counted in Redis for
 * all allocators together.
 *
 * `quota:{<account>}:<yyyymm>` and `...:<yyyymmdd>` are hashes of what was
 * taken in that UTC month or day; they are kept until a day after it has ended.
 * What is about to be stored is taken first, all of it or nothing, in one
 * script of the account's slot, and given back when nothing was stored.  So
 * what is counted is never less than what was stored, as long as Redis forgets
 * nothing; it is more by what allocators were killed over, or could not find
 * out.
 */
#ifndef LINKSTORE_QUOTA_H
#define LINKSTORE_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

#include "common/redis/redis_async.h"
#include "linkstore/linkstore.h"

/* Lua's numbers are exact up to 2^53. */
#define QUOTA_MAX (INT64_C(1) << 50)

enum quota_period {
	QUOTA_DAY,
	QUOTA_MONTH,
};

struct quota_rule {
	int64_t max; /* a period; 0: any number */
	enum quota_period period;
};

struct quota {
	struct quota_rule links, bytes;
};

static inline bool quota_is_set(const struct quota *quota)
{
	return quota->links.max || quota->bytes.max;
}

#define QUOTA_LABEL_MAX 9 /* "20261122" and the NUL */

struct quota_answer {
	bool taken;
	/* Taken: what is counted now, this included; of what has no rule 0.
	 * The periods that it was taken from, to give it back. */
	int64_t links, bytes;
	char links_label[QUOTA_LABEL_MAX], bytes_label[QUOTA_LABEL_MAX];
	/* Not taken: for want of bytes (else of links), of which so many are
	 * counted; ms until the next period. */
	bool bytes_lack;
	int64_t counted, wait_ms;
};

/* `answer` is valid during the call; NULL when err is not. */
typedef void quota_fn(void *arg, const struct quota_answer *answer,
		      const struct error *err);
int quota_take_async(struct redis_async *redis, const struct linkstore *store,
		     const char *account, const struct quota *quota,
		     int64_t links, int64_t bytes, quota_fn *fn, void *arg,
		     struct error *err);

/* Gives back what was taken.  Nobody waits for the answer: what is not given
 * back stays counted. */
int quota_give_async(struct redis_async *redis, const struct linkstore *store,
		     const char *account, const struct quota_answer *taken,
		     int64_t links, int64_t bytes, struct error *err);

#endif
