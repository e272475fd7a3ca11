/*
 * alphabet.h - the 62 symbols of a code, in an order of one's own.
 */
#ifndef CODESPACE_ALPHABET_H
#define CODESPACE_ALPHABET_H

#include <stdint.h>

#define ALPHABET_SIZE 62
#define ALPHABET_NONE 255 /* no symbol */
#define ALPHABET_SEED 32  /* bytes */

struct alphabet {
	char symbols[ALPHABET_SIZE];
	uint8_t digits[256]; /* the inverse; ALPHABET_NONE for other bytes */
};

/* 0-9, A-Z, a-z. */
void alphabet_plain(struct alphabet *a);

/* The same symbols shuffled by the seed: Fisher and Yates, fed by libsodium's
 * deterministic generator (ChaCha20). */
void alphabet_shuffled(struct alphabet *a,
		       const unsigned char seed[ALPHABET_SEED]);

#endif
