/*
 * account_rules.h - the limits of an account: a line of the keys file that
 * begins with '@' and the account's name, or `@*` for accounts without a line.
 *
 *	@acme	links=100000/month bytes=200MiB/day ttl=10d,30d spaces=s7
 *
 * `links` and `bytes` (of the records in Redis, without Redis' own overhead)
 * are limits for a UTC day or month (linkstore/quota.h); `ttl` has the classes
 * and `spaces` the spaces that the account may use.  Each is optional: without
 * it there is no limit.
 *
 * Read-only after parsing: any number of threads may use it.
 */
#ifndef ALLOCATOR_KEYS_ACCOUNT_RULES_H
#define ALLOCATOR_KEYS_ACCOUNT_RULES_H

#include "common/config/setting.h"
#include "common/error.h"
#include "common/keys/api_keyring.h"
#include "common/metrics/metrics.h"
#include "linkstore/links_config.h"
#include "linkstore/quota.h"

/* Bytes of these lists, with the NUL. */
#define ACCOUNT_TTL_MAX	   256
#define ACCOUNT_SPACES_MAX 512

struct account_rules {
	struct quota quota;
	char ttl[ACCOUNT_TTL_MAX];	 /* "10d,30d"; "": any */
	char spaces[ACCOUNT_SPACES_MAX]; /* "s7,names"; "": any */
	/* Refusals by reason; and the use as of the last create. */
	struct metric *links_refused, *bytes_refused, *ttl_refused,
		*spaces_refused;
	struct metric *links_used, *bytes_used;
};

/* Parses the text behind the name, which is modified.  `links` has the TTL
 * classes and spaces that exist; NULL: any.  ERROR_INPUT says what was
 * expected. */
int account_rules_parse(char *text, const struct links_config *links,
			struct account_rules *ret, struct error *err);

bool account_rules_equal(const struct account_rules *a,
			 const struct account_rules *b);

/* Returns whether the account may use this TTL class.  NULL rules allow any. */
bool account_rules_allow_ttl(const struct account_rules *rules,
			     const char *ttl);

/* Returns whether the account may use this space.  NULL rules allow any. */
bool account_rules_allow_space(const struct account_rules *rules,
			       const char *space);

/* Returns whether the key may make links in this space, by its own line and by
 * its account's. */
bool account_rules_may_use_space(const struct api_key_info *key,
				 const char *space);

/* Counts a refusal of the space if the account's line is the reason. */
void account_rules_count_space(const struct api_key_info *key,
			       const char *space);

/* Registers the metrics of an account.  `m` may be NULL. */
void account_rules_register_metrics(struct account_rules *rules,
				    const char *account, struct metrics *m);

#endif
