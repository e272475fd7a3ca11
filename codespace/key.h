/*
 * key.h - the keys that make the codes of a space, derived from its secrets.
 *
 * An operator gives a secret for each version of a space's key.  From it comes
 * a master key by BLAKE2b over a purpose, the version and the secret, and from
 * that one key for each use by libsodium's crypto_kdf.  So spaces of different
 * purposes (another length, strategy or alphabet) share nothing, even if they
 * share a secret.
 */
#ifndef CODESPACE_KEY_H
#define CODESPACE_KEY_H

#include <stddef.h>

#include "common/error.h"

#define CODE_VERSIONS	     4
#define CODE_SECRET_MIN	     16 /* bytes */
#define CODE_FINGERPRINT_MAX 17 /* 16 hexadecimal digits and the NUL */

struct codespace_key {
	unsigned version; /* 0 to CODE_VERSIONS - 1 */
	const void *secret;
	size_t secret_len; /* at least CODE_SECRET_MIN */
};

/* The uses, fixed for ever: their numbers enter the derivation. */
enum code_use {
	CODE_USE_PERMUTATION = 1,
	CODE_USE_ALPHABET = 3,
	CODE_USE_FINGERPRINT = 4,
	CODE_USE_SALT = 5,
};

#define CODE_MASTER 32 /* bytes */

/*
 * Derives the master key of one version for one purpose, a short text.  Returns
 * -1 with ERROR_CONFIG if the version or the secret is out of bounds.  The
 * caller wipes the result.
 */
int code_key_master(const struct codespace_key *key, const char *purpose,
		    unsigned char ret_master[CODE_MASTER], struct error *err);

/* Derives the key of one use, of 16 to 64 bytes. */
int code_key_derive(const unsigned char master[CODE_MASTER], enum code_use use,
		    unsigned char *ret_key, size_t len, struct error *err);

/* Writes a text that identifies the key without revealing it. */
int code_key_fingerprint(const unsigned char master[CODE_MASTER],
			 char ret_text[CODE_FINGERPRINT_MAX],
			 struct error *err);

#endif
