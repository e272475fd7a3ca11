/*
 * account_rules.h - what an account may store: a line of the file of keys that
 * begins with '@' and the account's name, or `@*` for those without one.
 *
 *	@acme	links=100000/month bytes=200MiB/day ttl=10d,30d spaces=s7
 *
 * `links` and `bytes` (of the records in Redis, without what Redis adds) are
 * bounds of a UTC day or month (linkstore/quota.h), `ttl` the classes and
 * `spaces` the spaces it may use.  Each is optional: without it there is no
 * bound.
 *
 * Read-only once made: any number of threads may use it.
 */
#ifndef ALLOCATOR_KEYS_ACCOUNT_RULES_H
#define ALLOCATOR_KEYS_ACCOUNT_RULES_H

#include "common/config/setting.h"
#include "common/error.h"
#include "common/keys/api_keyring.h"
#include "common/metrics/metrics.h"
#include "linkstore/config.h"
#include "linkstore/quota.h"

/* Bytes of these lists, with the NUL. */
#define ACCOUNT_TTL_MAX	   256
#define ACCOUNT_SPACES_MAX 512

struct account_rules {
	struct quota quota;
	char ttl[ACCOUNT_TTL_MAX];	 /* "10d,30d"; "": any */
	char spaces[ACCOUNT_SPACES_MAX]; /* "s7,names"; "": any */
	/* What was refused, by reason; and, as of the last create, used. */
	struct metric *links_refused, *bytes_refused, *ttl_refused,
		*spaces_refused;
	struct metric *links_used, *bytes_used;
};

/* Reads what follows the name, cutting it up.  `links` has the TTL classes and
 * spaces there are; NULL: any.  ERROR_INPUT: what was expected. */
int account_rules_parse(char *text, const struct links_config *links,
			struct account_rules *ret, struct error *err);

bool account_rules_equal(const struct account_rules *a,
			 const struct account_rules *b);

/* May its links be of that class?  NULL: of any. */
bool account_rules_allow_ttl(const struct account_rules *rules,
			     const char *ttl);

/* May its links be made in that space?  NULL: in any. */
bool account_rules_allow_space(const struct account_rules *rules,
			       const char *space);

/* May the key make links there, as its own line and its account's say? */
bool account_rules_may_use_space(const struct api_key_info *key,
				 const char *space);

/* Counts a refusal of the space, where the account's line is the reason. */
void account_rules_count_space(const struct api_key_info *key,
			       const char *space);

/* Registers what is counted of an account.  `m` may be NULL. */
void account_rules_register_metrics(struct account_rules *rules,
				    const char *account, struct metrics *m);

#endif
