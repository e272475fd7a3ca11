/*
 * api_keyring.h - the API keys of a program, their permissions and rate limits.
 * One file may serve several programs.
 *
 * The file holds one key a line, and never the key itself:
 *
 *	# name	roles		digest
 *	admin	admin		sha256:9f86d081884c7d65...(64 hex digits)
 *	board	read		sha256:2c26b46b68ffc68f... accounts=* rate=9/s
 *	crm-2	create,read-own	sha256:fcde2b2e... account=crm owners=ann
 *
 * Fields are separated by blanks.  A name is up to 64 of [0-9A-Za-z._-].  Names
 * and digests are unique.  These may follow the digest, in any order:
 *
 *	account=NAME	the account whose links it makes, reads and may change;
 *			default: the key's own name
 *	accounts=*	it reads those of all accounts
 *	owners=A,B	the owners in its account it may write for, and whose
 *			links it may read (key_names.h); default: any
 *	spaces=A,B	the spaces in which it may create; default: any
 *	rate=N/s	its rate limit (/m a minute, /h an hour), or none;
 *			default: the program's, which admins do not have
 *	burst=N		the largest burst; default: the number of the rate
 *
 * Lines that begin with '@' describe accounts; a program that uses them has an
 * account_reader, others skip them.
 *
 * Roles: `read` reads the data of its account, and with accounts=* that of all;
 * `read-own` is the same, and may not have accounts=*; `visitors` beside one of
 * them reads the clicks of one visitor, too; `create` creates, and
 * edits and deletes the links of its account; `admin` includes all of these,
 * for all accounts, and blocks links.  key_access.h has the rule.
 *
 * api_keyring holds the current keys and swaps them while other threads look
 * keys up.
 */
#ifndef COMMON_KEYS_API_KEYRING_H
#define COMMON_KEYS_API_KEYRING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/app/reloadable.h"
#include "common/error.h"
#include "common/keys/key_line.h"
#include "common/keys/key_names.h"
#include "common/keys/rate_limiter.h"
#include "common/metrics/metrics.h"

struct api_keyring;

/* The file's lines about an account; the program that has an account_reader
 * defines the struct. */
struct account_rules;

/* The data of a presented key; may be copied and outlives a reload. */
struct api_key_info {
	char name[API_KEY_NAME_MAX];
	char account[API_KEY_NAME_MAX];
	unsigned roles; /* enum api_role; includes implied roles */
	/* NULL: any.  They live as long as the ring. */
	const struct key_names *owners, *spaces;
	/* The rules of its account; NULL: none, as for an admin.  Lives as long
	 * as the account_reader's result. */
	const struct account_rules *rules;
	/* NULL: no limit.  Lives as long as the ring; a key that keeps its name
	 * keeps its bucket, even if its digest changes. */
	struct rate_limiter *limiter;
	struct metric *limited; /* counts the limiter's refusals */
	unsigned char digest[API_KEY_DIGEST];
	uint64_t file_version; /* the load this was read from; 0: none */
};

/*
 * Reads the lines that begin with '@'.  The thread that loads the file makes
 * all calls; all NULL: such lines are skipped.
 */
struct account_reader {
	/* The file is read again. */
	void (*begin)(void *arg);
	/* Takes a line, which it may modify, from after its '@' and without its
	 * comment.  ERROR_INPUT: what was expected. */
	int (*take)(void *arg, char *text, struct error *err);
	/* Called once all lines are read, for each account.  Sets *ret to the
	 * account's rules; *ret is NULL before the call: none. */
	int (*find)(void *arg, const char *account,
		    const struct account_rules **ret, struct error *err);
	void *arg;
};

struct api_keyring_options {
	const char *path;
	const char *setting;	 /* its name in errors: "allocator.keys_file" */
	struct metrics *metrics; /* NULL: none */
	struct rate_rule rate;	 /* for keys without rate=; count 0: no limit */
	/* Returns true if that space exists.  NULL: spaces= may have any
	 * name. */
	bool (*has_space)(const void *arg, const char *name);
	const void *has_space_arg; /* outlives the ring */
	/* The metric of the limiters' refusals, with the label `key`;
	 * literals. */
	const char *limited_metric, *limited_help;
	struct account_reader accounts; /* outlives the ring */
};

/* Loads the file.  An invalid line is ERROR_CONFIG, "file:line: what was
 * expected". */
struct api_keyring *api_keyring_new(const struct api_keyring_options *options,
				    struct error *err);
void api_keyring_free(struct api_keyring *ring); /* NULL accepted */

/* Reads the file again, on one thread at a time.  On failure the keys stay
 * unchanged. */
int api_keyring_reload(struct api_keyring *ring, struct error *err);

size_t api_keyring_count(struct api_keyring *ring);

/* Reads a ring again and reports it: "API keys". */
extern const struct rereadable_kind api_keyring_kind;

/* Looks up a presented key.  Returns false if it is unknown.  Callable from any
 * thread. */
bool api_keyring_find(struct api_keyring *ring, const char *key, size_t len,
		      struct api_key_info *ret);

/* Returns true if the key still has that role; for work that takes longer than
 * a request.  If the file was read again meanwhile, *info becomes the current
 * data of the same key, without any role if the key is gone.  Callable from any
 * thread. */
bool api_keyring_still_may(struct api_keyring *ring, struct api_key_info *info,
			   enum api_role role);

#endif
