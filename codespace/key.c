#include "codespace/key.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#define KDF_CONTEXT "shortlp1" /* crypto_kdf_CONTEXTBYTES */

_Static_assert(CODE_MASTER == crypto_kdf_KEYBYTES, "master key size");

static int check_key(const struct codespace_key *key, struct error *err)
{
	if (key->version >= CODE_VERSIONS)
		return error_set(err, ERROR_CONFIG,
				 "key version %u is not from 0 to %d",
				 key->version, CODE_VERSIONS - 1);
	if (key->secret_len < CODE_SECRET_MIN)
		return error_set(err, ERROR_CONFIG,
				 "the key of version %u has %zu bytes: at "
				 "least %d are needed",
				 key->version, key->secret_len,
				 CODE_SECRET_MIN);
	if (sodium_init() < 0)
		return error_set(err, ERROR_SYSTEM, "libsodium does not start");
	return 0;
}

int code_key_master(const struct codespace_key *key, const char *purpose,
		    unsigned char ret_master[CODE_MASTER], struct error *err)
{
	crypto_generichash_state state;
	char domain[64];
	int len = snprintf(domain, sizeof(domain), "shortloop %s %u", purpose,
			   key->version);

	if (check_key(key, err))
		return -1;
	if (len < 0 || (size_t)len >= sizeof(domain))
		return error_set(err, ERROR_CONFIG, "%s: too long", purpose);
	if (crypto_generichash_init(&state, NULL, 0, CODE_MASTER) ||
	    crypto_generichash_update(&state, (const unsigned char *)domain,
				      (size_t)len + 1) ||
	    crypto_generichash_update(&state, key->secret, key->secret_len) ||
	    crypto_generichash_final(&state, ret_master, CODE_MASTER))
		return error_set(err, ERROR_SYSTEM, "libsodium: hash failed");
	sodium_memzero(&state, sizeof(state));
	return 0;
}

int code_key_derive(const unsigned char master[CODE_MASTER], enum code_use use,
		    unsigned char *ret_key, size_t len, struct error *err)
{
	if (crypto_kdf_derive_from_key(ret_key, len, use, KDF_CONTEXT, master))
		return error_set(err, ERROR_SYSTEM,
				 "libsodium: key derivation failed");
	return 0;
}

int code_key_fingerprint(const unsigned char master[CODE_MASTER],
			 char ret_text[CODE_FINGERPRINT_MAX], struct error *err)
{
	unsigned char print[16];

	if (code_key_derive(master, CODE_USE_FINGERPRINT, print, sizeof(print),
			    err))
		return -1;
	sodium_bin2hex(ret_text, CODE_FINGERPRINT_MAX, print, 8);
	return 0;
}
