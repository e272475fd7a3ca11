/*
 * api_keys.h - who may use the API.
 *
 * The file holds one key a line, and never the key itself:
 *
 *	# name	roles		digest
 *	admin	admin		sha256:9f86d081884c7d65...(64 hex digits)
 *	crm	create,read	sha256:2c26b46b68ffc68f...
 *
 * Fields are separated by blanks.  A name is up to 64 of [0-9A-Za-z._-] and is
 * used once.  Roles: `read`, `create`, and `admin`, which includes both.
 *
 * A struct api_keys is read-only once loaded; api_keyring holds the present one
 * and swaps it while other threads look keys up.
 */
#ifndef ALLOCATOR_API_KEYS_H
#define ALLOCATOR_API_KEYS_H

#include <stddef.h>

#include "common/error.h"

enum api_role {
	API_READ = 1,
	API_CREATE = 2,
	API_ADMIN = 4,
};

#define API_KEY_NAME_MAX 65 /* with its NUL */
#define API_KEY_TEXT_MAX 64 /* a key as made here, with its NUL */
#define API_KEY_LINE_MAX 256

struct api_keyring;

/* Loads the file.  A line that makes no sense is ERROR_CONFIG,
 * "file:line: what was expected". */
struct api_keyring *api_keyring_new(const char *path, struct error *err);
void api_keyring_free(struct api_keyring *ring); /* NULL accepted */

/* Reads the file again.  On failure the keys stay as they were. */
int api_keyring_reload(struct api_keyring *ring, struct error *err);

size_t api_keyring_count(struct api_keyring *ring);

/*
 * Looks up a presented key.  Returns its roles (enum api_role, `admin` with the
 * roles it includes), or 0 when it is nobody's.  From any thread.
 */
unsigned api_keyring_roles(struct api_keyring *ring, const char *key,
			   size_t len);

/*
 * Makes a new random key (256 bits) and the line that lets it in.  `roles` is
 * written as in the file.  ERROR_USAGE when name or roles make no sense.
 */
int api_key_make(const char *name, const char *roles,
		 char ret_key[API_KEY_TEXT_MAX],
		 char ret_line[API_KEY_LINE_MAX], struct error *err);

#endif
