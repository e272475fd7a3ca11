/*
 * snowflake_code.h - codes of 11 characters for ids made without Redis.
 *
 * The 63 bits of a snowflake (41 ms, 10 node, 12 sequence) go through a keyed
 * permutation of the numbers below 2^63, so that consecutive ids are not
 * neighbours in code; the result, below the two bits of the key's version, is
 * written in base 62.  62^11 is 2^65.5, so four versions fit.  57^11 is 2^64.2:
 * without look-alikes two do, 0 and 1.
 *
 * There is no check character.  Every number below 2^63 is some id; a guess is
 * refused by the version (4 of 5.6 are known at most, with one key 1) and the
 * time in the id, which the caller compares with its clock: in 2030 one number
 * in seven is not in the future.
 *
 * Read-only once made: any number of threads may use it.
 */
#ifndef CODESPACE_SNOWFLAKE_CODE_H
#define CODESPACE_SNOWFLAKE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codespace/key.h"
#include "common/error.h"

#define SNOWFLAKE_CODE_LENGTH	11
#define SNOWFLAKE_CODE_TEXT_MAX (SNOWFLAKE_CODE_LENGTH + 1) /* with its NUL */

struct snowflake_codes;

/*
 * `base` is the size of the alphabet: 62, or 57 without look-alikes (0: 62).
 * The first key makes new codes, all of them read old ones; the secrets are not
 * kept.  Returns NULL with ERROR_CONFIG when a value is out of its bounds.
 */
struct snowflake_codes *snowflake_codes_new(unsigned base,
					    const struct codespace_key *keys,
					    size_t key_count,
					    struct error *err);
void snowflake_codes_free(struct snowflake_codes *sc); /* NULL accepted */

/* Writes the code of an id below 2^63, with the first key. */
void snowflake_codes_encode(const struct snowflake_codes *sc, uint64_t id,
			    char ret_code[SNOWFLAKE_CODE_TEXT_MAX]);

/*
 * Reads a code of `len` bytes.  Returns false if it cannot be one of ours:
 * another length, a byte that is no symbol, a version that has no key.  The
 * outputs are then unchanged.  *ret_ms, the real time in the id, must be
 * compared with the clock: no id with a future time was made.  ret_version may
 * be NULL.
 */
bool snowflake_codes_decode(const struct snowflake_codes *sc, const char *code,
			    size_t len, uint64_t *ret_id, int64_t *ret_ms,
			    unsigned *ret_version);

/* Returns the version that a text would have as a code, whether or not there is
 * a key for it; CODE_VERSIONS: none. */
unsigned snowflake_codes_version_of(const struct snowflake_codes *sc,
				    const char *code, size_t len);

unsigned snowflake_codes_version(const struct snowflake_codes *sc);

/* Returns false when there is no such version. */
bool snowflake_codes_fingerprint(const struct snowflake_codes *sc,
				 unsigned version,
				 char ret_text[CODE_FINGERPRINT_MAX]);

#endif
