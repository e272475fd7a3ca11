/*
 * api_keys.h - who may use the API, and how often.
 *
 * The file holds one key a line, and never the key itself:
 *
 *	# name	roles		digest
 *	admin	admin		sha256:9f86d081884c7d65...(64 hex digits)
 *	crm	create,read	sha256:2c26b46b68ffc68f...  rate=100/s burst=200
 *
 * Fields are separated by blanks.  A name is up to 64 of [0-9A-Za-z._-].  Names
 * and digests are used once.  `rate` (a second, /m minute or /h hour) and
 * `burst` (the number of the rate when not given) are optional: without them
 * there is no limit.
 *
 * Roles: `read` reads links, QR codes and the ledger; `create` creates, and
 * edits and deletes the links whose creator is a key of that name; `admin`
 * includes both, edits and deletes any link, and blocks links.
 *
 * api_keyring holds the present keys and swaps them while other threads look
 * keys up.
 */
#ifndef ALLOCATOR_KEYS_API_KEYS_H
#define ALLOCATOR_KEYS_API_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocator/keys/rate_limit.h"
#include "common/error.h"
#include "common/metrics/metrics.h"

enum api_role {
	API_READ = 1,
	API_CREATE = 2,
	API_ADMIN = 4,
};

#define API_KEY_NAME_MAX 65 /* with its NUL */
#define API_KEY_DIGEST	 32 /* bytes of SHA-256 */
#define API_KEY_TEXT_MAX 64 /* a key as made here, with its NUL */
#define API_KEY_LINE_MAX 256

struct api_keyring;

/* What is known of a presented key; may be copied and outlives a reload. */
struct api_key_info {
	char name[API_KEY_NAME_MAX];
	unsigned roles; /* enum api_role; `admin` with those it includes */
	/* NULL: no limit.  Lives as long as the ring; a key that keeps its
	 * name keeps its bucket, whatever its digest becomes. */
	struct rate_limiter *limiter;
	struct metric *limited; /* to count what the limiter refuses */
	unsigned char digest[API_KEY_DIGEST];
	uint64_t reading; /* of the file; 0: none */
};

/* Loads the file.  A line that makes no sense is ERROR_CONFIG,
 * "file:line: what was expected".  `metrics` may be NULL. */
struct api_keyring *api_keyring_new(const char *path, struct metrics *metrics,
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

/* May a key of that name edit or delete a link that `creator` made?  An admin
 * may; else whoever has `create` and the creator's name. */
bool api_key_may_change(const struct api_key_info *key, const char *creator);

/*
 * Makes a new random key (256 bits) and the line that lets it in.  `roles`,
 * `rate` and `burst` are written as in the file; the last two may be NULL.
 * ERROR_USAGE when one of them makes no sense.
 */
int api_key_make(const char *name, const char *roles, const char *rate,
		 const char *burst, char ret_key[API_KEY_TEXT_MAX],
		 char ret_line[API_KEY_LINE_MAX], struct error *err);

#endif
