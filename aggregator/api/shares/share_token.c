#include "aggregator/api/shares/share_token.h"

#include <sodium.h>
#include <string.h>

#define TOKEN_BYTES 16
#define PASSES	    2
#define MEMORY	    ((size_t)19 << 20)

_Static_assert(SHARE_PASSWORD_HASH >= crypto_pwhash_STRBYTES,
	       "a hash of libsodium fits");

static void name_token(const unsigned char token[TOKEN_BYTES],
		       struct share_name *ret)
{
	unsigned char digest[crypto_hash_sha256_BYTES];

	crypto_hash_sha256(digest, token, TOKEN_BYTES);
	sodium_bin2hex(ret->digest, sizeof(ret->digest), digest,
		       sizeof(digest));
	sodium_bin2hex(ret->id, sizeof(ret->id), digest, SHARE_ID_MAX / 2);
}

void share_token_make(char ret_token[SHARE_TOKEN_MAX], struct share_name *ret)
{
	unsigned char token[TOKEN_BYTES];

	randombytes_buf(token, sizeof(token));
	sodium_bin2base64(ret_token, SHARE_TOKEN_MAX, token, sizeof(token),
			  sodium_base64_VARIANT_URLSAFE_NO_PADDING);
	name_token(token, ret);
	sodium_memzero(token, sizeof(token));
}

bool share_token_read(struct http_slice text, struct share_name *ret)
{
	unsigned char token[TOKEN_BYTES];
	size_t len = 0;

	if (text.len != SHARE_TOKEN_MAX - 1 ||
	    sodium_base642bin(token, sizeof(token), text.data, text.len, NULL,
			      &len, NULL,
			      sodium_base64_VARIANT_URLSAFE_NO_PADDING) != 0 ||
	    len != sizeof(token))
		return false;
	name_token(token, ret);
	return true;
}

bool share_token_is_of(const struct share_name *name, const struct share *share)
{
	return sodium_memcmp(name->digest, share->digest,
			     sizeof(name->digest)) == 0;
}

int share_password_hash(const char *password, char ret[SHARE_PASSWORD_HASH],
			struct error *err)
{
	memset(ret, 0, SHARE_PASSWORD_HASH);
	if (crypto_pwhash_str(ret, password, strlen(password), PASSES,
			      MEMORY) == 0)
		return 0;
	return error_set_nomem(err);
}

bool share_password_is(const char *password,
		       const char hash[SHARE_PASSWORD_HASH])
{
	return crypto_pwhash_str_verify(hash, password, strlen(password)) == 0;
}
