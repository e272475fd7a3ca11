#include "codespace/codespace.h"

#include <endian.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codespace/alphabet.h"
#include "codespace/feistel.h"
#include "codespace/siphash.h"

struct version {
	bool present;
	struct feistel feistel;
	struct siphash check;
	struct alphabet alphabet;
	char fingerprint[CODE_FINGERPRINT_MAX];
};

struct codespace {
	unsigned length;
	unsigned base;
	unsigned checks; /* check characters of a version: a quarter of all */
	unsigned left_digits, right_digits;
	unsigned newest;
	uint64_t capacity;
	/* One order for all versions: it is what tells them apart. */
	struct alphabet check_symbols;
	struct version versions[CODE_VERSIONS];
};

/* --- keys ----------------------------------------------------------------- */

static uint64_t power(unsigned base, unsigned exponent)
{
	uint64_t power = 1;

	while (exponent--)
		power *= base;
	return power;
}

static struct siphash check_key(const unsigned char bytes[16])
{
	uint64_t k[2];

	memcpy(k, bytes, sizeof(k));
	return siphash_key(le64toh(k[0]), le64toh(k[1]));
}

static int derive_all(struct version *v, const struct codespace *cs,
		      const unsigned char master[CODE_MASTER],
		      struct error *err)
{
	unsigned char permutation[16], check[16], seed[ALPHABET_SEED];
	int status = -1;

	if (code_key_derive(master, CODE_USE_PERMUTATION, permutation,
			    sizeof(permutation), err) ||
	    code_key_derive(master, CODE_USE_CHECK, check, sizeof(check),
			    err) ||
	    code_key_derive(master, CODE_USE_ALPHABET, seed, sizeof(seed),
			    err) ||
	    code_key_fingerprint(master, v->fingerprint, err))
		goto out;
	feistel_init(&v->feistel, power(cs->base, cs->left_digits),
		     power(cs->base, cs->right_digits), permutation);
	v->check = check_key(check);
	alphabet_shuffled(&v->alphabet, cs->base, seed);
	v->present = true;
	status = 0;
out:
	sodium_memzero(permutation, sizeof(permutation));
	sodium_memzero(check, sizeof(check));
	sodium_memzero(seed, sizeof(seed));
	return status;
}

static int add_key(struct codespace *cs, const struct codespace_key *key,
		   struct error *err)
{
	unsigned char master[CODE_MASTER];
	char purpose[32];
	int status;

	snprintf(purpose, sizeof(purpose), "codespace %u %u", cs->length,
		 cs->base);
	if (code_key_master(key, purpose, master, err))
		return -1;
	if (cs->versions[key->version].present)
		status = error_set(err, ERROR_CONFIG,
				   "key version %u is given twice",
				   key->version);
	else
		status = derive_all(&cs->versions[key->version], cs, master,
				    err);
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
	cs->capacity = power(base, length - 1);
	if (cs->capacity > UINT64_C(1) << CODE_ID_BITS)
		cs->capacity = UINT64_C(1) << CODE_ID_BITS;
	alphabet_plain(&cs->check_symbols, base);
	return 0;
}

static int init(struct codespace *cs, const struct codespace_options *options,
		struct error *err)
{
	unsigned base = options->base ? options->base : ALPHABET_SIZE;

	if (set_sizes(cs, options->length, base, err))
		return -1;
	if (options->key_count == 0)
		return error_set(err, ERROR_CONFIG,
				 "a space needs at least one key");
	for (size_t i = 0; i < options->key_count; i++)
		if (add_key(cs, &options->keys[i], err))
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
	if (init(cs, options, err)) {
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

unsigned codespace_length(const struct codespace *cs)
{
	return cs->length;
}

unsigned codespace_base(const struct codespace *cs)
{
	return cs->base;
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
static unsigned check_digit(const struct codespace *cs, unsigned version,
			    struct feistel_parts parts)
{
	const struct version *v = &cs->versions[version];
	uint64_t payload = parts.left * v->feistel.right_size + parts.right;

	return version * cs->checks +
	       (unsigned)(siphash_8(v->check, payload, 1, 3) % cs->checks);
}

/* A part has at most five digits, so that 32 bits do. */
static void put_digits(const struct alphabet *a, uint64_t part, unsigned digits,
		       char *to)
{
	uint32_t rest = (uint32_t)part;

	while (digits--) {
		to[digits] = a->symbols[rest % a->size];
		rest /= a->size;
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
		part = part * a->size + digit;
	}
	*ret_part = part;
	return true;
}

void codespace_encode_version(const struct codespace *cs, unsigned version,
			      uint64_t id, char ret_code[CODE_TEXT_MAX])
{
	const struct version *v = &cs->versions[version];
	struct feistel_parts parts = feistel_permute(&v->feistel, id);
	unsigned check = check_digit(cs, version, parts);

	put_digits(&v->alphabet, parts.left, cs->left_digits, ret_code);
	put_digits(&v->alphabet, parts.right, cs->right_digits,
		   ret_code + cs->left_digits);
	ret_code[cs->length - 1] = cs->check_symbols.symbols[check];
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
	check = cs->check_symbols.digits[(unsigned char)code[len - 1]];
	version = check / cs->checks;
	if (!codespace_has_version(cs, version))
		return false;
	v = &cs->versions[version];
	if (!get_digits(&v->alphabet, code, cs->left_digits, &parts.left) ||
	    !get_digits(&v->alphabet, code + cs->left_digits, cs->right_digits,
			&parts.right) ||
	    check != check_digit(cs, version, parts))
		return false;
	id = feistel_invert(&v->feistel, parts);
	if (id >= cs->capacity)
		return false;
	*ret_id = id;
	if (ret_version)
		*ret_version = version;
	return true;
}
