/*
 * dictionary.h - numbers for distinct byte strings: 0 for the first, and so on.
 * Internal to common/clickhouse.
 */
#ifndef COMMON_CLICKHOUSE_DICTIONARY_H
#define COMMON_CLICKHOUSE_DICTIONARY_H

#include <stddef.h>
#include <stdint.h>

#include "common/hash.h"

struct dictionary_word {
	const char *data;
	size_t len;
};

/* The words are not copied: they have to stay in place until the next reset. */
struct dictionary {
	struct dictionary_word *words;
	uint64_t *slots; /* half of the hash, then number + 1; 0: free */
	uint32_t count;
	uint32_t last;	     /* the number returned last */
	uint32_t slot_count; /* a power of two, or 0 */
};

#define DICTIONARY_FULL UINT32_MAX /* memory ran out */

/* Returns the number of a word.  Start from `struct dictionary d = {0};`. */
uint32_t dictionary_number(struct dictionary *d, const struct hash_key *key,
			   const char *word, size_t len);
/* Removes the words and keeps the memory. */
void dictionary_reset(struct dictionary *d);
void dictionary_release(struct dictionary *d);

#endif
