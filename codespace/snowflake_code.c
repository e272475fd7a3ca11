#include "codespace/snowflake_code.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codespace/alphabet.h"
#include "codespace/feistel.h"
#include "codespace/snowflake.h"

#define ID_BITS	   63
#define LEFT_BITS  31
#define RIGHT_BITS 32
#define LOW_DIGITS 6 /* the number is cut here, to be written in two halves */

typedef unsigned __int128 wide;

struct snowflake_version {
	bool present;
	struct feistel feistel;
	char fingerprint[CODE_FINGERPRINT_MAX];
};

struct snowflake_codes {
	struct alphabet alphabet;
	uint64_t cut; /* base^LOW_DIGITS */
	unsigned newest;
	unsigned versions_max;
	struct snowflake_version versions[CODE_VERSIONS];
};

/* --- life ----------------------------------------------------------------- */

static int version_init(struct snowflake_version *v, unsigned base,
			const struct codespace_key *key, struct error *err)
{
	unsigned char master[CODE_MASTER], permutation[16];
	char purpose[32];
	int status = -1;

	snprintf(purpose, sizeof(purpose), "snowflake %u", base);
	if (code_key_master(key, purpose, master, err))
		return -1;
	if (code_key_derive(master, CODE_USE_PERMUTATION, permutation,
			    sizeof(permutation), err) ||
	    code_key_fingerprint(master, v->fingerprint, err))
		goto out;
	feistel_init(&v->feistel, UINT64_C(1) << LEFT_BITS,
		     UINT64_C(1) << RIGHT_BITS, 1, permutation);
	v->present = true;
	status = 0;
out:
	sodium_memzero(master, sizeof(master));
	sodium_memzero(permutation, sizeof(permutation));
	return status;
}

static int add_key(struct snowflake_codes *sc, const struct codespace_key *key,
		   struct error *err)
{
	if (key->version >= sc->versions_max)
		return error_set(err, ERROR_CONFIG,
				 "key version %u is not from 0 to %u: %d "
				 "characters of %u symbols carry no more",
				 key->version, sc->versions_max - 1,
				 SNOWFLAKE_CODE_LENGTH, sc->alphabet.size);
	if (sc->versions[key->version].present)
		return error_set(err, ERROR_CONFIG,
				 "key version %u is given twice", key->version);
	return version_init(&sc->versions[key->version], sc->alphabet.size, key,
			    err);
}

static int init_snowflake_codes(struct snowflake_codes *sc, unsigned base,
				const struct codespace_key *keys, size_t count,
				struct error *err)
{
	wide codes = 1;

	if (!alphabet_has(base))
		return error_set(err, ERROR_CONFIG,
				 "there is no alphabet of "
				 "%u symbols",
				 base);
	if (count == 0)
		return error_set(err, ERROR_CONFIG,
				 "a space needs at least one key");
	alphabet_plain(&sc->alphabet, base);
	for (int i = 0; i < SNOWFLAKE_CODE_LENGTH; i++) {
		if (i == LOW_DIGITS)
			sc->cut = (uint64_t)codes;
		codes *= base;
	}
	sc->versions_max = (unsigned)(codes >> ID_BITS);
	if (sc->versions_max > CODE_VERSIONS)
		sc->versions_max = CODE_VERSIONS;
	for (size_t i = 0; i < count; i++)
		if (add_key(sc, &keys[i], err))
			return -1;
	sc->newest = keys[0].version;
	return 0;
}

struct snowflake_codes *snowflake_codes_new(unsigned base,
					    const struct codespace_key *keys,
					    size_t key_count, struct error *err)
{
	struct snowflake_codes *sc = calloc(1, sizeof(*sc));

	if (!sc) {
		error_set_nomem(err);
		return NULL;
	}
	if (init_snowflake_codes(sc, base ? base : ALPHABET_SIZE, keys,
				 key_count, err)) {
		snowflake_codes_free(sc);
		return NULL;
	}
	return sc;
}

void snowflake_codes_free(struct snowflake_codes *sc)
{
	if (!sc)
		return;
	sodium_memzero(sc, sizeof(*sc));
	free(sc);
}

unsigned snowflake_codes_version(const struct snowflake_codes *sc)
{
	return sc->newest;
}

bool snowflake_codes_fingerprint(const struct snowflake_codes *sc,
				 unsigned version,
				 char ret_text[CODE_FINGERPRINT_MAX])
{
	if (version >= CODE_VERSIONS || !sc->versions[version].present)
		return false;
	memcpy(ret_text, sc->versions[version].fingerprint,
	       CODE_FINGERPRINT_MAX);
	return true;
}

/* --- codes ---------------------------------------------------------------- */

static void put_digits(const struct alphabet *a, uint64_t number,
		       unsigned digits, char *to)
{
	while (digits--) {
		to[digits] = a->symbols[number % a->size];
		number /= a->size;
	}
}

void snowflake_codes_encode(const struct snowflake_codes *sc, uint64_t id,
			    char ret_code[SNOWFLAKE_CODE_TEXT_MAX])
{
	struct feistel_parts parts =
		feistel_permute(&sc->versions[sc->newest].feistel, id);
	wide number = (wide)sc->newest << ID_BITS | parts.left << RIGHT_BITS |
		      parts.right;
	unsigned high = SNOWFLAKE_CODE_LENGTH - LOW_DIGITS;

	put_digits(&sc->alphabet, (uint64_t)(number / sc->cut), high, ret_code);
	put_digits(&sc->alphabet, (uint64_t)(number % sc->cut), LOW_DIGITS,
		   ret_code + high);
	ret_code[SNOWFLAKE_CODE_LENGTH] = '\0';
}

/* Returns the version and stores the number below it. */
static unsigned split_code(const struct snowflake_codes *sc, const char *code,
			   size_t len, uint64_t *ret_low)
{
	wide number = 0;
	uint8_t digit;

	if (len != SNOWFLAKE_CODE_LENGTH)
		return CODE_VERSIONS;
	for (size_t i = 0; i < len; i++) {
		digit = sc->alphabet.digits[(unsigned char)code[i]];
		if (digit == ALPHABET_NONE)
			return CODE_VERSIONS;
		number = number * sc->alphabet.size + digit;
	}
	*ret_low = (uint64_t)number & ((UINT64_C(1) << ID_BITS) - 1);
	number >>= ID_BITS;
	return number < sc->versions_max ? (unsigned)number : CODE_VERSIONS;
}

unsigned snowflake_codes_version_of(const struct snowflake_codes *sc,
				    const char *code, size_t len)
{
	uint64_t ignored;

	return split_code(sc, code, len, &ignored);
}

bool snowflake_codes_decode(const struct snowflake_codes *sc, const char *code,
			    size_t len, uint64_t *ret_id, int64_t *ret_ms,
			    unsigned *ret_version)
{
	struct feistel_parts parts;
	uint64_t low = 0;
	unsigned version = split_code(sc, code, len, &low);

	if (version >= CODE_VERSIONS || !sc->versions[version].present)
		return false;
	parts.left = low >> RIGHT_BITS;
	parts.right = low & ((UINT64_C(1) << RIGHT_BITS) - 1);
	parts.tag = 0;
	if (!feistel_invert(&sc->versions[version].feistel, parts, ret_id))
		return false;
	*ret_ms = snowflake_ms(*ret_id, SNOWFLAKE_CODE_SEQUENCE);
	if (ret_version)
		*ret_version = version;
	return true;
}
