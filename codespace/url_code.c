#include "codespace/url_code.h"

#include <endian.h>
#include <openssl/evp.h>
#include <sodium.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codespace/alphabet.h"

#define SALT   32 /* bytes */
#define DIGEST 16

struct url_codes {
	unsigned length;
	uint64_t codes; /* base^length */
	EVP_MD *md5;
	struct alphabet alphabet;
	unsigned char salt[SALT];
	char fingerprint[CODE_FINGERPRINT_MAX];
};

/* --- life ----------------------------------------------------------------- */

static int derive_salt(struct url_codes *uc, const struct codespace_key *key,
		       struct error *err)
{
	unsigned char master[CODE_MASTER];
	char purpose[32];
	int status = -1;

	snprintf(purpose, sizeof(purpose), "urlcode %u %u", uc->length,
		 uc->alphabet.size);
	if (code_key_master(key, purpose, master, err))
		return -1;
	if (!code_key_derive(master, CODE_USE_SALT, uc->salt, SALT, err) &&
	    !code_key_fingerprint(master, uc->fingerprint, err))
		status = 0;
	sodium_memzero(master, sizeof(master));
	return status;
}

static int init(struct url_codes *uc, unsigned length, unsigned base,
		const struct codespace_key *key, struct error *err)
{
	if (length < URL_CODE_LENGTH_MIN || length > URL_CODE_LENGTH_MAX)
		return error_set(err, ERROR_CONFIG,
				 "length %u is not from %d to %d", length,
				 URL_CODE_LENGTH_MIN, URL_CODE_LENGTH_MAX);
	if (!alphabet_has(base))
		return error_set(err, ERROR_CONFIG,
				 "there is no alphabet of "
				 "%u symbols",
				 base);
	uc->length = length;
	uc->codes = 1;
	for (unsigned i = 0; i < length; i++)
		uc->codes *= base;
	alphabet_plain(&uc->alphabet, base);
	uc->md5 = EVP_MD_fetch(NULL, "MD5", NULL);
	if (!uc->md5)
		return error_set(err, ERROR_SYSTEM,
				 "libcrypto has no MD5, which spaces of "
				 "strategy hash need");
	return derive_salt(uc, key, err);
}

struct url_codes *url_codes_new(unsigned length, unsigned base,
				const struct codespace_key *key,
				struct error *err)
{
	struct url_codes *uc = calloc(1, sizeof(*uc));

	if (!uc) {
		error_set_nomem(err);
		return NULL;
	}
	if (init(uc, length, base ? base : ALPHABET_SIZE, key, err)) {
		url_codes_free(uc);
		return NULL;
	}
	return uc;
}

void url_codes_free(struct url_codes *uc)
{
	if (!uc)
		return;
	EVP_MD_free(uc->md5);
	sodium_memzero(uc, sizeof(*uc));
	free(uc);
}

unsigned url_codes_length(const struct url_codes *uc)
{
	return uc->length;
}

const char *url_codes_fingerprint(const struct url_codes *uc)
{
	return uc->fingerprint;
}

/* --- codes ---------------------------------------------------------------- */

static int digest(const struct url_codes *uc, uint32_t round, const char *owner,
		  const char *url, size_t len, unsigned char ret[DIGEST],
		  struct error *err)
{
	uint32_t counter = htole32(round);
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	bool done;

	if (!md)
		return error_set_nomem(err);
	done = EVP_DigestInit_ex2(md, uc->md5, NULL) &&
	       EVP_DigestUpdate(md, uc->salt, SALT) &&
	       EVP_DigestUpdate(md, &counter, sizeof(counter)) &&
	       EVP_DigestUpdate(md, owner, strlen(owner) + 1) &&
	       EVP_DigestUpdate(md, url, len) &&
	       EVP_DigestFinal_ex(md, ret, NULL);
	EVP_MD_CTX_free(md);
	return done ? 0 : error_set(err, ERROR_SYSTEM, "libcrypto: MD5 failed");
}

int url_code_candidate(const struct url_codes *uc, const char *owner,
		       const char *url, size_t len, unsigned attempt,
		       char ret_code[URL_CODE_TEXT_MAX], struct error *err)
{
	unsigned char sum[DIGEST];
	uint32_t quarter;
	uint64_t number;

	if (digest(uc, attempt / URL_CODE_ROUND, owner, url, len, sum, err))
		return -1;
	memcpy(&quarter, sum + attempt % URL_CODE_ROUND * sizeof(quarter),
	       sizeof(quarter));
	number = (uint64_t)((unsigned __int128)le32toh(quarter) * uc->codes >>
			    32);
	for (unsigned i = uc->length; i-- > 0; number /= uc->alphabet.size)
		ret_code[i] = uc->alphabet.symbols[number % uc->alphabet.size];
	ret_code[uc->length] = '\0';
	return 0;
}

bool url_code_fits(const struct url_codes *uc, const char *code, size_t len)
{
	if (len != uc->length)
		return false;
	for (size_t i = 0; i < len; i++)
		if (uc->alphabet.digits[(unsigned char)code[i]] ==
		    ALPHABET_NONE)
			return false;
	return true;
}
