/*
 * codespace.h - the codes of one space: code <-> id, by arithmetic alone.
 *
 * A code of length L is a payload of L - 1 symbols and a check character.  The
 * payload is a keyed permutation of the id on [0, base^(L-1)), written with a
 * shuffled alphabet of 62 symbols, or of 57 without look-alikes: neighbours in
 * id are not neighbours in code, yet a code decodes to its id with no look-up.
 * The check character carries the key's version (two bits) and the
 * permutation's tag, one of 15 (of 14 with 57 symbols), so that at least 14
 * (13) of 15 (14) codes guessed without the keys are refused here.
 *
 * The permutation is an alternating Feistel network with modular addition over
 * the maximally balanced split of the payload's digits, as in FFX and NIST SP
 * 800-38G (FF1), with SipHash (Aumasson and Bernstein, 2012) as its round
 * function.  It keeps attackers from enumerating links; it is not a cipher to
 * keep secrets with.  feistel.h describes the primitives, and why there are six
 * rounds.
 *
 * Measured (docs/bench.md) on a Xeon at 2.5 GHz, 7 characters: 49 ns to make a
 * code and 49 to read it, 17 each when many are made in a row with AVX-512.
 *
 * A codespace is read-only once made: any number of threads may use it.
 */
#ifndef CODESPACE_CODESPACE_H
#define CODESPACE_CODESPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codespace/key.h"
#include "common/error.h"

#define CODE_LENGTH_MIN 4
#define CODE_LENGTH_MAX 11
#define CODE_TEXT_MAX	(CODE_LENGTH_MAX + 1) /* with its NUL */

/* Ids of all spaces fit link_id's 42 bits, whatever the length. */
#define CODE_ID_BITS 42

struct codespace_options {
	unsigned length; /* CODE_LENGTH_MIN to CODE_LENGTH_MAX */
	unsigned base;	 /* symbols: 62, or 57 without 0 O 1 l I; 0: 62 */
	const struct codespace_key *keys;
	size_t key_count;
	/* The purpose of the codes, a word: codes of different purposes share
	 * no key.  NULL: the ids of blocks. */
	const char *purpose;
};

struct codespace;

/*
 * The first key makes new codes; all of them read old ones.  Every key the
 * space uses is derived from its version's secret, the version, the purpose,
 * the length and the base, so spaces may share a secret.  The secrets are not
 * kept.  Returns NULL with ERROR_CONFIG if a value is out of its bounds.
 */
struct codespace *codespace_new(const struct codespace_options *options,
				struct error *err);
void codespace_free(struct codespace *cs); /* wipes the keys; NULL accepted */

/* Returns the number of ids: min(base^(length-1), 2^42). */
uint64_t codespace_capacity(const struct codespace *cs);

/* Returns the number of texts among which an attacker has to guess who knows
 * everything but the keys: for each id one per tag. */
uint64_t codespace_guesses(const struct codespace *cs);

/* Returns the number of values of the payload's smaller part.  An attacker who
 * has seen fewer codes than about that provably cannot predict others
 * (feistel.h). */
uint64_t codespace_proven(const struct codespace *cs);

/* Returns the version of new codes. */
unsigned codespace_version(const struct codespace *cs);
bool codespace_has_version(const struct codespace *cs, unsigned version);

/* Writes the code of an id below the capacity, and a NUL. */
void codespace_encode(const struct codespace *cs, uint64_t id,
		      char ret_code[CODE_TEXT_MAX]);

/* Does the same as codespace_encode, with another version that the space
 * has. */
void codespace_encode_version(const struct codespace *cs, unsigned version,
			      uint64_t id, char ret_code[CODE_TEXT_MAX]);

/*
 * Reads a code of `len` bytes.  Returns false if it cannot be one of ours:
 * another length, a byte that is no symbol, a version that has no key, a wrong
 * check character, an id beyond the capacity.  The outputs are then unchanged.
 * ret_version may be NULL.
 */
bool codespace_decode(const struct codespace *cs, const char *code, size_t len,
		      uint64_t *ret_id, unsigned *ret_version);

/* Returns the version that a text would have as a code, by its length and check
 * character alone, whether or not there is a key for it; CODE_VERSIONS:
 * none. */
unsigned codespace_version_of(const struct codespace *cs, const char *code,
			      size_t len);

/*
 * Identifies a key without revealing it: 64 bits derived from the version's
 * secret.  Returns false if the space has no such version.
 */
bool codespace_fingerprint(const struct codespace *cs, unsigned version,
			   char ret_text[CODE_FINGERPRINT_MAX]);

#endif
