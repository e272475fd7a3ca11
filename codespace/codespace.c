#include "codespace/codespace.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codespace/alphabet.h"
#include "codespace/digits.h"
#include "codespace/feistel.h"

struct key_version {
	bool present;
	struct feistel feistel;
	struct digits digits;
	char checks[ALPHABET_SIZE / CODE_VERSIONS]; /* by tag */
	char fingerprint[CODE_FINGERPRINT_MAX];
};

struct codespace {
	unsigned length;
	unsigned base;
	unsigned checks; /* check characters of a version: a quarter of all */
	unsigned left_digits, right_digits;
	unsigned newest;
	uint64_t capacity;
	/* The meaning of a check character.  All versions share one order of
	 * the symbols: the check character distinguishes them. */
	struct {
		uint8_t version; /* CODE_VERSIONS: no version with a key */
		uint8_t tag;
	} check[256];
	struct key_version versions[CODE_VERSIONS];
};

/* --- keys ----------------------------------------------------------------- */

static uint64_t raise_to_power(unsigned base, unsigned exponent)
{
	uint64_t power = 1;

	while (exponent--)
		power *= base;
	return power;
}

static int derive_all(struct key_version *v, const struct codespace *cs,
		      const unsigned char master[CODE_MASTER],
		      struct error *err)
{
	unsigned char permutation[16], seed[ALPHABET_SEED];
	struct alphabet shuffled;
	int status = -1;

	if (code_key_derive(master, CODE_USE_PERMUTATION, permutation,
			    sizeof(permutation), err) ||
	    code_key_derive(master, CODE_USE_ALPHABET, seed, sizeof(seed),
			    err) ||
	    code_key_fingerprint(master, v->fingerprint, err))
		goto out;
	feistel_init(&v->feistel, raise_to_power(cs->base, cs->left_digits),
		     raise_to_power(cs->base, cs->right_digits), cs->checks,
		     permutation);
	alphabet_shuffled(&shuffled, cs->base, seed);
	digits_init(&v->digits, &shuffled);
	v->present = true;
	status = 0;
out:
	sodium_memzero(permutation, sizeof(permutation));
	sodium_memzero(seed, sizeof(seed));
	sodium_memzero(&shuffled, sizeof(shuffled));
	return status;
}

static void set_checks(struct codespace *cs, unsigned version)
{
	struct alphabet plain;

	alphabet_plain(&plain, cs->base);
	for (unsigned tag = 0; tag < cs->checks; tag++) {
		char c = plain.symbols[version * cs->checks + tag];

		cs->versions[version].checks[tag] = c;
		cs->check[(unsigned char)c].version = (uint8_t)version;
		cs->check[(unsigned char)c].tag = (uint8_t)tag;
	}
}

static int add_key(struct codespace *cs, const struct codespace_key *key,
		   const char *what, struct error *err)
{
	unsigned char master[CODE_MASTER];
	char purpose[32];
	int status;

	snprintf(purpose, sizeof(purpose), "%s %u %u",
		 what ? what : "codespace", cs->length, cs->base);
	if (code_key_master(key, purpose, master, err))
		return -1;
	if (cs->versions[key->version].present)
		status = error_set(err, ERROR_CONFIG,
				   "key version %u is given twice",
				   key->version);
	else
		status = derive_all(&cs->versions[key->version], cs, master,
				    err);
	set_checks(cs, key->version);
	sodium_memzero(master, sizeof(master));
	return status;
}

/* --- life ----------------------------------------------------------------- */

static int set_sizes(struct codespace *cs, unsigned length, unsigned base,
		     struct error *err)
{
	if (length < CODE_LENGTH_MIN || length > CODE_LENGTH_MAX)
		return error_set(err, ERROR_CONFIG,
				 "length %u is not from %d to %d", length,
				 CODE_LENGTH_MIN, CODE_LENGTH_MAX);
	if (!alphabet_has(base))
		return error_set(err, ERROR_CONFIG,
				 "there is no alphabet of %u symbols", base);
	cs->length = length;
	cs->base = base;
	cs->checks = base / CODE_VERSIONS;
	cs->left_digits = (length - 1) / 2;
	cs->right_digits = length - 1 - cs->left_digits;
	cs->capacity = raise_to_power(base, length - 1);
	if (cs->capacity > UINT64_C(1) << CODE_ID_BITS)
		cs->capacity = UINT64_C(1) << CODE_ID_BITS;
	for (int c = 0; c < 256; c++)
		cs->check[c].version = CODE_VERSIONS;
	return 0;
}

static int init_codespace(struct codespace *cs,
			  const struct codespace_options *options,
			  struct error *err)
{
	unsigned base = options->base ? options->base : ALPHABET_SIZE;

	if (set_sizes(cs, options->length, base, err))
		return -1;
	if (options->key_count == 0)
		return error_set(err, ERROR_CONFIG,
				 "a space needs at least one key");
	for (size_t i = 0; i < options->key_count; i++)
		if (add_key(cs, &options->keys[i], options->purpose, err))
			return -1;
	cs->newest = options->keys[0].version;
	return 0;
}

struct codespace *codespace_new(const struct codespace_options *options,
				struct error *err)
{
	struct codespace *cs = calloc(1, sizeof(*cs));

	if (!cs) {
		error_set_nomem(err);
		return NULL;
	}
	if (init_codespace(cs, options, err)) {
		codespace_free(cs);
		return NULL;
	}
	return cs;
}

void codespace_free(struct codespace *cs)
{
	if (!cs)
		return;
	sodium_memzero(cs, sizeof(*cs));
	free(cs);
}

uint64_t codespace_capacity(const struct codespace *cs)
{
	return cs->capacity;
}

uint64_t codespace_guesses(const struct codespace *cs)
{
	return cs->capacity * cs->checks;
}

uint64_t codespace_proven(const struct codespace *cs)
{
	return raise_to_power(cs->base, cs->left_digits);
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

static inline void put_code(const struct codespace *cs,
			    const struct key_version *v,
			    struct feistel_parts parts, char *to)
{
	digits_put(&v->digits, parts.left, cs->left_digits, to);
	digits_put(&v->digits, parts.right, cs->right_digits,
		   to + cs->left_digits);
	to[cs->length - 1] = v->checks[parts.tag];
	to[cs->length] = '\0';
}

void codespace_encode(const struct codespace *cs, uint64_t id,
		      char ret_code[CODE_TEXT_MAX])
{
	codespace_encode_version(cs, cs->newest, id, ret_code);
}

void codespace_encode_version(const struct codespace *cs, unsigned version,
			      uint64_t id, char ret_code[CODE_TEXT_MAX])
{
	const struct key_version *v = &cs->versions[version];

	put_code(cs, v, feistel_permute(&v->feistel, id), ret_code);
}

unsigned codespace_version_of(const struct codespace *cs, const char *code,
			      size_t len)
{
	struct alphabet plain;
	unsigned digit;

	if (len != cs->length)
		return CODE_VERSIONS;
	alphabet_plain(&plain, cs->base);
	digit = plain.digits[(unsigned char)code[len - 1]];
	return digit < CODE_VERSIONS * cs->checks ? digit / cs->checks
						  : CODE_VERSIONS;
}

bool codespace_decode(const struct codespace *cs, const char *code, size_t len,
		      uint64_t *ret_id, unsigned *ret_version)
{
	const struct key_version *v;
	struct feistel_parts parts;
	unsigned check, version;
	uint64_t id;

	if (len != cs->length)
		return false;
	check = (unsigned char)code[len - 1];
	version = cs->check[check].version;
	if (version == CODE_VERSIONS)
		return false;
	v = &cs->versions[version];
	parts.tag = cs->check[check].tag;
	if (!digits_get(&v->digits, code, cs->left_digits, &parts.left) ||
	    !digits_get(&v->digits, code + cs->left_digits, cs->right_digits,
			&parts.right) ||
	    !feistel_invert(&v->feistel, parts, &id) || id >= cs->capacity)
		return false;
	*ret_id = id;
	if (ret_version)
		*ret_version = version;
	return true;
}
