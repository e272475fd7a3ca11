#include "codespace/url_code.h"

#include <endian.h>
#include <openssl/evp.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codespace/alphabet.h"
#include "codespace/codespace.h"

#define SALT   32 /* bytes */
#define DIGEST 16

#define ROUND_HAS_ACCOUNT UINT32_C(0x80000000)

struct url_codes {
	enum url_code_method method;
	unsigned length;
	uint64_t codes; /* number of possible codes */
	struct alphabet alphabet;
	struct codespace *checked;  /* NULL: no check character */
	EVP_MD *md5;		    /* for URL_CODE_MD5_QUARTERS */
	unsigned char secret[SALT]; /* the key of the hash, or MD5's salt */
	char fingerprint[CODE_FINGERPRINT_MAX];
};

/* --- life ----------------------------------------------------------------- */

static const char *const purposes[URL_CODE_METHODS] = {
	[URL_CODE_KEYED] = "urlcode keyed",
	[URL_CODE_MD5_QUARTERS] = "urlcode",
};

static int derive_secret(struct url_codes *uc, const struct codespace_key *key,
			 struct error *err)
{
	unsigned char master[CODE_MASTER];
	char purpose[32];
	int status = -1;

	snprintf(purpose, sizeof(purpose), "%s %u %u", purposes[uc->method],
		 uc->length, uc->alphabet.size);
	if (code_key_master(key, purpose, master, err))
		return -1;
	if (!code_key_derive(master, CODE_USE_SALT, uc->secret, SALT, err) &&
	    !code_key_fingerprint(master, uc->fingerprint, err))
		status = 0;
	sodium_memzero(master, sizeof(master));
	return status;
}

static int open_keyed(struct url_codes *uc, const struct codespace_key *key,
		      struct error *err)
{
	const struct codespace_options options = {
		.length = uc->length,
		.base = uc->alphabet.size,
		.keys = key,
		.key_count = 1,
		.purpose = "urlcheck",
	};

	if (uc->length < URL_CODE_CHECKED)
		return 0;
	uc->checked = codespace_new(&options, err);
	if (!uc->checked)
		return -1;
	uc->codes = codespace_capacity(uc->checked);
	return 0;
}

static int open_md5(struct url_codes *uc, struct error *err)
{
	uc->md5 = EVP_MD_fetch(NULL, "MD5", NULL);
	if (uc->md5)
		return 0;
	return error_set(err, ERROR_SYSTEM,
			 "libcrypto has no MD5, which spaces of strategy hash "
			 "need unless their hash_codes are keyed");
}

static int init_url_codes(struct url_codes *uc, const struct codespace_key *key,
			  struct error *err)
{
	uc->codes = 1;
	for (unsigned i = 0; i < uc->length; i++)
		uc->codes *= uc->alphabet.size;
	if (uc->method == URL_CODE_KEYED ? open_keyed(uc, key, err)
					 : open_md5(uc, err))
		return -1;
	return derive_secret(uc, key, err);
}

static int check_length_and_base(unsigned length, unsigned base,
				 struct error *err)
{
	if (length < URL_CODE_LENGTH_MIN || length > URL_CODE_LENGTH_MAX)
		return error_set(err, ERROR_CONFIG,
				 "length %u is not from %d to %d", length,
				 URL_CODE_LENGTH_MIN, URL_CODE_LENGTH_MAX);
	if (!alphabet_has(base))
		return error_set(err, ERROR_CONFIG,
				 "there is no alphabet of %u symbols", base);
	return 0;
}

struct url_codes *url_codes_new(enum url_code_method method, unsigned length,
				unsigned base, const struct codespace_key *key,
				struct error *err)
{
	struct url_codes *uc;

	base = base ? base : ALPHABET_SIZE;
	if (check_length_and_base(length, base, err))
		return NULL;
	uc = calloc(1, sizeof(*uc));
	if (!uc) {
		error_set_nomem(err);
		return NULL;
	}
	uc->method = method;
	uc->length = length;
	alphabet_plain(&uc->alphabet, base);
	if (init_url_codes(uc, key, err)) {
		url_codes_free(uc);
		return NULL;
	}
	return uc;
}

void url_codes_free(struct url_codes *uc)
{
	if (!uc)
		return;
	codespace_free(uc->checked);
	EVP_MD_free(uc->md5);
	sodium_memzero(uc, sizeof(*uc));
	free(uc);
}

const char *url_codes_fingerprint(const struct url_codes *uc)
{
	return uc->fingerprint;
}

static bool is_of_quarters(const struct url_codes *uc)
{
	return uc->method == URL_CODE_MD5_QUARTERS && uc->codes > UINT32_MAX;
}

uint64_t url_codes_capacity(const struct url_codes *uc)
{
	return is_of_quarters(uc) ? UINT64_C(1) << 32 : uc->codes;
}

uint64_t url_codes_guesses(const struct url_codes *uc)
{
	return uc->checked ? codespace_guesses(uc->checked)
			   : url_codes_capacity(uc);
}

/* --- codes ---------------------------------------------------------------- */

static void add_text(crypto_generichash_blake2b_state *state, const char *text)
{
	/* The NUL is included, so that no byte can move from one text to the
	 * next. */
	crypto_generichash_blake2b_update(state, (const unsigned char *)text,
					  strlen(text) + 1);
}

static uint64_t keyed_number(const struct url_codes *uc,
			     const struct url_code_subject *of,
			     unsigned attempt)
{
	unsigned char salt[crypto_generichash_blake2b_SALTBYTES] = {0};
	unsigned char sum[DIGEST];
	uint32_t round = htole32(attempt / URL_CODE_ROUND),
		 counter = htole32(attempt);
	crypto_generichash_blake2b_state state;
	uint64_t halves[2];

	memcpy(salt, &round, sizeof(round));
	crypto_generichash_blake2b_init_salt_personal(&state, uc->secret, SALT,
						      sizeof(sum), salt, NULL);
	crypto_generichash_blake2b_update(
		&state, (const unsigned char *)&counter, sizeof(counter));
	add_text(&state, of->account);
	add_text(&state, of->owner);
	crypto_generichash_blake2b_update(
		&state, (const unsigned char *)of->url, of->url_len);
	crypto_generichash_blake2b_final(&state, sum, sizeof(sum));
	sodium_memzero(&state, sizeof(state));
	memcpy(halves, sum, sizeof(halves));
	return (uint64_t)(((unsigned __int128)le64toh(halves[1]) << 64 |
			   le64toh(halves[0])) %
			  uc->codes);
}

static int compute_subject_md5(const struct url_codes *uc, uint32_t round,
			       const struct url_code_subject *of,
			       unsigned char ret[DIGEST], struct error *err)
{
	size_t account = *of->account ? strlen(of->account) + 1 : 0;
	uint32_t counter = htole32(account ? round | ROUND_HAS_ACCOUNT : round);
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	bool done;

	if (!md)
		return error_set_nomem(err);
	done = EVP_DigestInit_ex2(md, uc->md5, NULL) &&
	       EVP_DigestUpdate(md, uc->secret, SALT) &&
	       EVP_DigestUpdate(md, &counter, sizeof(counter)) &&
	       EVP_DigestUpdate(md, of->account, account) &&
	       EVP_DigestUpdate(md, of->owner, strlen(of->owner) + 1) &&
	       EVP_DigestUpdate(md, of->url, of->url_len) &&
	       EVP_DigestFinal_ex(md, ret, NULL);
	EVP_MD_CTX_free(md);
	return done ? 0 : error_set(err, ERROR_SYSTEM, "libcrypto: MD5 failed");
}

static int quarter_number(const struct url_codes *uc,
			  const struct url_code_subject *of, unsigned attempt,
			  uint64_t *ret_number, struct error *err)
{
	unsigned char sum[DIGEST];
	uint32_t quarter;

	if (compute_subject_md5(uc, attempt / URL_CODE_ROUND, of, sum, err))
		return -1;
	memcpy(&quarter, sum + attempt % URL_CODE_ROUND * sizeof(quarter),
	       sizeof(quarter));
	*ret_number =
		(uint64_t)((unsigned __int128)le32toh(quarter) * uc->codes >>
			   32);
	return 0;
}

static void put_number(const struct url_codes *uc, uint64_t number,
		       char ret_code[URL_CODE_TEXT_MAX])
{
	for (unsigned i = uc->length; i-- > 0; number /= uc->alphabet.size)
		ret_code[i] = uc->alphabet.symbols[number % uc->alphabet.size];
	ret_code[uc->length] = '\0';
}

int url_code_candidate(const struct url_codes *uc,
		       const struct url_code_subject *of, unsigned attempt,
		       char ret_code[URL_CODE_TEXT_MAX], struct error *err)
{
	char code[CODE_TEXT_MAX];
	uint64_t number;

	if (uc->method == URL_CODE_KEYED)
		number = keyed_number(uc, of, attempt);
	else if (quarter_number(uc, of, attempt, &number, err))
		return -1;
	if (!uc->checked) {
		put_number(uc, number, ret_code);
		return 0;
	}
	codespace_encode(uc->checked, number, code);
	memcpy(ret_code, code, uc->length + 1);
	return 0;
}

bool url_code_fits(const struct url_codes *uc, const char *code, size_t len)
{
	uint64_t number;

	if (len != uc->length)
		return false;
	if (uc->checked)
		return codespace_decode(uc->checked, code, len, &number, NULL);
	for (size_t i = 0; i < len; i++)
		if (uc->alphabet.digits[(unsigned char)code[i]] ==
		    ALPHABET_NONE)
			return false;
	return true;
}
