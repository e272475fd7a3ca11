/*
 * api_keyring.h - who may use a program's API, and how often.  One file may
 * serve several programs.
 *
 * The file holds one key a line, and never the key itself:
 *
 *	# name	roles		digest
 *	admin	admin		sha256:9f86d081884c7d65...(64 hex digits)
 *	crm	create,read	sha256:2c26b46b68ffc68f...  rate=100/s burst=200
 *	crm-2	create,read-own	sha256:fcde2b2e...  account=crm owners=ann
 *
 * Fields are separated by blanks.  A name is up to 64 of [0-9A-Za-z._-].  Names
 * and digests are used once.  What may follow the digest, in any order:
 *
 *	account=NAME	whose links it makes and may change; the key's own name
 *			when not given
 *	owners=A,B	the owners it may write for, and whose links it may read
 *			(key_names.h); any when not given
 *	spaces=A,B	the spaces in which it may create; any when not given
 *	rate=N/s	how often it may ask (/m a minute, /h an hour), or none;
 *			the default's when not given, which admins do not have
 *	burst=N		how often at once; the number of the rate when not given
 *
 * Lines that begin with '@' say something of accounts; a program that makes use
 * of them has an account_reader, others pass them over.
 *
 * Roles: `read` reads what is of all accounts; `read-own` reads what is of its
 * account; `create` creates, and edits and deletes the links of its account;
 * `admin` includes all of it, edits and deletes any link, and blocks links.
 * key_access.h has the rule.
 *
 * api_keyring holds the present keys and swaps them while other threads look
 * keys up.
 */
#ifndef COMMON_KEYS_API_KEYRING_H
#define COMMON_KEYS_API_KEYRING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/keys/key_line.h"
#include "common/keys/key_names.h"
#include "common/keys/rate_limiter.h"
#include "common/metrics/metrics.h"

struct api_keyring;

/* What the file says of an account: the program's that has an account_reader
 * for it. */
struct account_rules;

/* What is known of a presented key; may be copied and outlives a reload. */
struct api_key_info {
	char name[API_KEY_NAME_MAX];
	char account[API_KEY_NAME_MAX];
	unsigned roles; /* enum api_role; with those that one includes */
	/* NULL: any.  They live as long as the ring. */
	const struct key_names *owners, *spaces;
	/* Of its account; NULL: none, as of an admin.  Lives as long as what
	 * the account_reader finds. */
	const struct account_rules *rules;
	/* NULL: no limit.  Lives as long as the ring; a key that keeps its
	 * name keeps its bucket, whatever its digest becomes. */
	struct rate_limiter *limiter;
	struct metric *limited; /* to count what the limiter refuses */
	unsigned char digest[API_KEY_DIGEST];
	uint64_t file_version; /* that this was read from; 0: none */
};

/*
 * Takes the lines that begin with '@'.  All of it is called by the thread that
 * loads the file; all NULL: such lines are passed over.
 */
struct account_reader {
	/* The file is read anew. */
	void (*begin)(void *arg);
	/* A line, to be cut up, from behind its '@' and without its comment.
	 * ERROR_INPUT: what was expected. */
	int (*take)(void *arg, char *text, struct error *err);
	/* Once all lines are read: what they say of an account.  Sets *ret,
	 * which begins as NULL: nothing. */
	int (*find)(void *arg, const char *account,
		    const struct account_rules **ret, struct error *err);
	void *arg;
};

struct api_keyring_options {
	const char *path;
	const char *setting;	 /* names it in errors: "allocator.keys_file" */
	struct metrics *metrics; /* NULL: none */
	struct rate_rule rate;	 /* of keys that say none; count 0: no limit */
	/* Is there such a space?  NULL: spaces= may name any. */
	bool (*has_space)(const void *arg, const char *name);
	const void *has_space_arg; /* outlives the ring */
	/* Counts what limiters refuse, with the label `key`; literals. */
	const char *limited_metric, *limited_help;
	struct account_reader accounts; /* outlives the ring */
};

/* Loads the file.  A line that makes no sense is ERROR_CONFIG,
 * "file:line: what was expected". */
struct api_keyring *api_keyring_new(const struct api_keyring_options *options,
				    struct error *err);
void api_keyring_free(struct api_keyring *ring); /* NULL accepted */

/* Reads the file again, on one thread at a time.  On failure the keys stay as
 * they were. */
int api_keyring_reload(struct api_keyring *ring, struct error *err);

size_t api_keyring_count(struct api_keyring *ring);

/* Looks up a presented key.  False: it is nobody's.  From any thread. */
bool api_keyring_find(struct api_keyring *ring, const char *key, size_t len,
		      struct api_key_info *ret);

/* May the key still do that, for what takes longer than a request: when the
 * file was read again meanwhile, *info becomes what it says of the same key
 * now, of no role when it is gone.  From any thread. */
bool api_keyring_still_may(struct api_keyring *ring, struct api_key_info *info,
			   enum api_role role);

#endif
