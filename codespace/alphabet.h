/*
 * alphabet.h - the symbols of a code, in an order of the space's own.
 *
 * There are two sets: all of 0-9, A-Z, a-z, and for codes that are read aloud
 * or typed from paper the 57 without 0 O 1 l I, which look alike.
 */
#ifndef CODESPACE_ALPHABET_H
#define CODESPACE_ALPHABET_H

#include <stdbool.h>
#include <stdint.h>

#define ALPHABET_SIZE  62  /* all */
#define ALPHABET_CLEAR 57  /* without look-alikes */
#define ALPHABET_NONE  255 /* no symbol */
#define ALPHABET_SEED  32  /* bytes */

struct alphabet {
	unsigned size; /* ALPHABET_SIZE or ALPHABET_CLEAR */
	char symbols[ALPHABET_SIZE];
	uint8_t digits[256]; /* the inverse; ALPHABET_NONE for other bytes */
};

/* Returns true if there is an alphabet of this size. */
bool alphabet_has(unsigned size);

/* Sets 0-9, A-Z, a-z, as far as they belong to the set of that size. */
void alphabet_plain(struct alphabet *a, unsigned size);

/* Sets the same symbols shuffled by the seed: Fisher and Yates, with
 * libsodium's deterministic generator (ChaCha20). */
void alphabet_shuffled(struct alphabet *a, unsigned size,
		       const unsigned char seed[ALPHABET_SEED]);

#endif
