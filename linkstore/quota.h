/*
 * quota.h - the limits of what an account may store in a day or a month,
 * counted in Redis for all allocators together.
 *
 * `quota:{<account>}:<yyyymm>` and `...:<yyyymmdd>` are hashes with the use in
 * that UTC month or day; they are kept until a day after it has ended.  Before
 * links are stored, their quota is taken, all or nothing, by one script in the
 * account's slot; it is given back if nothing was stored.  So the count is
 * never below what was stored, as long as Redis loses nothing.  It may be
 * above, if an allocator was killed, or could not learn whether a link was
 * stored.
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

/* Returns "day" or "month". */
const char *quota_period_name(enum quota_period period);

struct quota_rule {
	int64_t max; /* per period; 0: no limit */
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
	/* If taken: the counts, including this one (0 without a rule), and the
	 * periods that it was taken from, to give it back. */
	int64_t links, bytes;
	char links_label[QUOTA_LABEL_MAX], bytes_label[QUOTA_LABEL_MAX];
	/* If not taken: whether bytes (otherwise links) lack, how many are
	 * counted, and ms until the next period. */
	bool bytes_lack;
	int64_t counted, wait_ms;
};

/* `answer` is valid during the call; it is NULL if err is set. */
typedef void quota_fn(void *arg, const struct quota_answer *answer,
		      const struct error *err);
int quota_take_async(struct redis_async *redis, const struct linkstore *store,
		     const char *account, const struct quota *quota,
		     int64_t links, int64_t bytes, quota_fn *fn, void *arg,
		     struct error *err);

/* The use of an account in the present periods of its rules. */
struct quota_use {
	int64_t links, bytes;
	int64_t links_end, bytes_end; /* real ms: when the period ends */
};

/* Reads the use and changes nothing.  What has no rule is not counted. */
typedef void quota_use_fn(void *arg, const struct quota_use *use,
			  const struct error *err);
int quota_read_async(struct redis_async *redis, const struct linkstore *store,
		     const char *account, const struct quota *quota,
		     quota_use_fn *fn, void *arg, struct error *err);

/* Gives back what was taken.  No caller waits for the answer: if it is lost,
 * the count stays too high. */
int quota_give_async(struct redis_async *redis, const struct linkstore *store,
		     const char *account, const struct quota_answer *taken,
		     int64_t links, int64_t bytes, struct error *err);

#endif
