/*
 * share_token.h - the secrets of a share: its token, 128 random bits, and the
 * password that it may ask for.
 *
 * A token needs no slow hash: nobody guesses 128 bits.  A password gets one,
 * Argon2id with 19 MiB and two passes (OWASP's first choice), some tens of
 * milliseconds of a processor.
 */
#ifndef AGGREGATOR_API_SHARES_SHARE_TOKEN_H
#define AGGREGATOR_API_SHARES_SHARE_TOKEN_H

#include <stdbool.h>

#include "aggregator/api/share.h"
#include "common/error.h"
#include "common/http/http_server.h"

enum {
	SHARE_TOKEN_MAX = 23,	/* 22 characters of base64url and a NUL */
	SHARE_PASSWORD_MIN = 8, /* bytes */
	SHARE_PASSWORD_MAX = 128,
};

/* The part of a token that is stored. */
struct share_name {
	char id[SHARE_ID_MAX]; /* the digest's beginning: finds the share */
	char digest[SHARE_DIGEST_MAX];
};

/* Makes a token of the system's random bytes. */
void share_token_make(char ret_token[SHARE_TOKEN_MAX], struct share_name *ret);

/* Returns false if the text cannot be a token. */
bool share_token_read(struct http_slice text, struct share_name *ret);

/* Returns whether the name's token is the share's; takes equally long for each
 * wrong one. */
bool share_token_is_of(const struct share_name *name,
		       const struct share *share);

int share_password_hash(const char *password, char ret[SHARE_PASSWORD_HASH],
			struct error *err);
/* Returns whether the password is that of the hash. */
bool share_password_is(const char *password,
		       const char hash[SHARE_PASSWORD_HASH]);

#endif
