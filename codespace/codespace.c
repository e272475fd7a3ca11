#include "codespace/codespace.h"

#include <endian.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codespace/alphabet.h"
#include "codespace/feistel.h"
#include "codespace/siphash.h"

/* Check characters a version has: 4 versions of 15 fit the 62 symbols. */
#define CHECKS 15

/* What is derived from a version's master key, by libsodium's crypto_kdf. */
enum subkey {
	SUBKEY_FEISTEL = 1,
	SUBKEY_CHECK,
	SUBKEY_ALPHABET,
	SUBKEY_FINGERPRINT,
};
#define KDF_CONTEXT "shortlp1" /* crypto_kdf_CONTEXTBYTES */

struct version {
	bool present;
	struct feistel feistel;
	struct siphash check;
	struct alphabet alphabet;
	char fingerprint[CODE_FINGERPRINT_MAX];
};

struct codespace {
	unsigned length;
	unsigned left_digits, right_digits;
	unsigned newest;
	uint64_t capacity;
	/* One order for all versions: it is what tells them apart. */
	struct alphabet checks;
	struct version versions[CODE_VERSIONS];
};

/* --- keys ----------------------------------------------------------------- */

static int derive_master(unsigned char master[crypto_kdf_KEYBYTES],
			 unsigned length, const struct codespace_key *key,
			 struct error *err)
{
	crypto_generichash_state state;
	char domain[64];

	snprintf(domain, sizeof(domain), "shortloop codespace %u %u", length,
		 key->version);
	if (crypto_generichash_init(&state, NULL, 0, crypto_kdf_KEYBYTES) ||
	    crypto_generichash_update(&state, (const unsigned char *)domain,
				      strlen(domain) + 1) ||
	    crypto_generichash_update(&state, key->secret, key->secret_len) ||
	    crypto_generichash_final(&state, master, crypto_kdf_KEYBYTES))
		return error_set(err, ERROR_SYSTEM, "libsodium: hash failed");
	sodium_memzero(&state, sizeof(state));
	return 0;
}

static int derive(unsigned char *ret, size_t len, enum subkey which,
		  const unsigned char *master, struct error *err)
{
	if (crypto_kdf_derive_from_key(ret, len, which, KDF_CONTEXT, master))
		return error_set(err, ERROR_SYSTEM,
				 "libsodium: key derivation failed");
	return 0;
}

static struct siphash check_key(const unsigned char bytes[16])
{
	uint64_t k[2];

	memcpy(k, bytes, sizeof(k));
	return siphash_key(le64toh(k[0]), le64toh(k[1]));
}

static int version_init(struct version *v, unsigned length,
			const struct codespace_key *key, struct error *err)
{
	unsigned char master[crypto_kdf_KEYBYTES], feistel[16], check[16];
	unsigned char seed[ALPHABET_SEED], print[16];
	int status = -1;

	if (derive_master(master, length, key, err) ||
	    derive(feistel, sizeof(feistel), SUBKEY_FEISTEL, master, err) ||
	    derive(check, sizeof(check), SUBKEY_CHECK, master, err) ||
	    derive(seed, sizeof(seed), SUBKEY_ALPHABET, master, err) ||
	    derive(print, sizeof(print), SUBKEY_FINGERPRINT, master, err))
		goto out;
	feistel_init(&v->feistel, length - 1, feistel);
	v->check = check_key(check);
	alphabet_shuffled(&v->alphabet, seed);
	sodium_bin2hex(v->fingerprint, sizeof(v->fingerprint), print, 8);
	v->present = true;
	status = 0;
out:
	sodium_memzero(master, sizeof(master));
	sodium_memzero(feistel, sizeof(feistel));
	sodium_memzero(check, sizeof(check));
	sodium_memzero(seed, sizeof(seed));
	return status;
}

static int add_key(struct codespace *cs, const struct codespace_key *key,
		   struct error *err)
{
	if (key->version >= CODE_VERSIONS)
		return error_set(err, ERROR_CONFIG,
				 "key version %u is not from 0 to %d",
				 key->version, CODE_VERSIONS - 1);
	if (cs->versions[key->version].present)
		return error_set(err, ERROR_CONFIG,
				 "key version %u is given twice", key->version);
	if (key->secret_len < CODE_SECRET_MIN)
		return error_set(err, ERROR_CONFIG,
				 "the key of version %u has %zu bytes: at "
				 "least %d are needed",
				 key->version, key->secret_len,
				 CODE_SECRET_MIN);
	return version_init(&cs->versions[key->version], cs->length, key, err);
}

/* --- life ----------------------------------------------------------------- */

static int set_length(struct codespace *cs, unsigned length, struct error *err)
{
	if (length < CODE_LENGTH_MIN || length > CODE_LENGTH_MAX)
		return error_set(err, ERROR_CONFIG,
				 "length %u is not from %d to %d", length,
				 CODE_LENGTH_MIN, CODE_LENGTH_MAX);
	cs->length = length;
	cs->left_digits = (length - 1) / 2;
	cs->right_digits = length - 1 - cs->left_digits;
	cs->capacity = 1;
	for (unsigned i = 1; i < length; i++)
		cs->capacity *= ALPHABET_SIZE;
	if (cs->capacity > UINT64_C(1) << CODE_ID_BITS)
		cs->capacity = UINT64_C(1) << CODE_ID_BITS;
	return 0;
}

struct codespace *codespace_new(unsigned length,
				const struct codespace_key *keys,
				size_t key_count, struct error *err)
{
	struct codespace *cs;

	if (sodium_init() < 0) {
		error_set(err, ERROR_SYSTEM, "libsodium does not start");
		return NULL;
	}
	cs = calloc(1, sizeof(*cs));
	if (!cs) {
		error_set_nomem(err);
		return NULL;
	}
	alphabet_plain(&cs->checks);
	if (set_length(cs, length, err))
		goto fail;
	if (key_count == 0) {
		error_set(err, ERROR_CONFIG, "a space needs at least one key");
		goto fail;
	}
	for (size_t i = 0; i < key_count; i++)
		if (add_key(cs, &keys[i], err))
			goto fail;
	cs->newest = keys[0].version;
	return cs;
fail:
	codespace_free(cs);
	return NULL;
}

void codespace_free(struct codespace *cs)
{
	if (!cs)
		return;
	sodium_memzero(cs, sizeof(*cs));
	free(cs);
}

unsigned codespace_length(const struct codespace *cs)
{
	return cs->length;
}

uint64_t codespace_capacity(const struct codespace *cs)
{
	return cs->capacity;
}

unsigned codespace_version(const struct codespace *cs)
{
	return cs->newest;
}

bool codespace_has_version(const struct codespace *cs, unsigned version)
{
	return version < CODE_VERSIONS && cs->versions[version].present;
}

bool codespace_fingerprint(const struct codespace *cs, unsigned version,
			   char ret_text[CODE_FINGERPRINT_MAX])
{
	if (!codespace_has_version(cs, version))
		return false;
	memcpy(ret_text, cs->versions[version].fingerprint,
	       CODE_FINGERPRINT_MAX);
	return true;
}

/* --- codes ---------------------------------------------------------------- */

/* The keyed hash of the payload: of the number it stands for, which the
 * alphabet maps one to one. */
static unsigned check_digit(const struct version *v, unsigned number,
			    struct feistel_parts parts)
{
	uint64_t payload = parts.left * v->feistel.right_size + parts.right;

	return number * CHECKS +
	       (unsigned)(siphash_8(v->check, payload, 1, 3) % CHECKS);
}

/* A part has at most five digits, so that 32 bits do. */
static void put_digits(const struct alphabet *a, uint64_t part, unsigned digits,
		       char *to)
{
	uint32_t rest = (uint32_t)part;

	while (digits--) {
		to[digits] = a->symbols[rest % ALPHABET_SIZE];
		rest /= ALPHABET_SIZE;
	}
}

static bool get_digits(const struct alphabet *a, const char *from,
		       unsigned digits, uint64_t *ret_part)
{
	uint32_t part = 0;
	uint8_t digit;

	for (unsigned i = 0; i < digits; i++) {
		digit = a->digits[(unsigned char)from[i]];
		if (digit == ALPHABET_NONE)
			return false;
		part = part * ALPHABET_SIZE + digit;
	}
	*ret_part = part;
	return true;
}

void codespace_encode_version(const struct codespace *cs, unsigned version,
			      uint64_t id, char ret_code[CODE_TEXT_MAX])
{
	const struct version *v = &cs->versions[version];
	struct feistel_parts parts = feistel_permute(&v->feistel, id);
	unsigned check = check_digit(v, version, parts);

	put_digits(&v->alphabet, parts.left, cs->left_digits, ret_code);
	put_digits(&v->alphabet, parts.right, cs->right_digits,
		   ret_code + cs->left_digits);
	ret_code[cs->length - 1] = cs->checks.symbols[check];
	ret_code[cs->length] = '\0';
}

void codespace_encode(const struct codespace *cs, uint64_t id,
		      char ret_code[CODE_TEXT_MAX])
{
	codespace_encode_version(cs, cs->newest, id, ret_code);
}

bool codespace_decode(const struct codespace *cs, const char *code, size_t len,
		      uint64_t *ret_id, unsigned *ret_version)
{
	const struct version *v;
	struct feistel_parts parts;
	unsigned check, version;
	uint64_t id;

	if (len != cs->length)
		return false;
	check = cs->checks.digits[(unsigned char)code[len - 1]];
	version = check / CHECKS;
	if (!codespace_has_version(cs, version))
		return false;
	v = &cs->versions[version];
	if (!get_digits(&v->alphabet, code, cs->left_digits, &parts.left) ||
	    !get_digits(&v->alphabet, code + cs->left_digits, cs->right_digits,
			&parts.right) ||
	    check != check_digit(v, version, parts))
		return false;
	id = feistel_invert(&v->feistel, parts);
	if (id >= cs->capacity)
		return false;
	*ret_id = id;
	if (ret_version)
		*ret_version = version;
	return true;
}
