#include "codespace/alphabet.h"

#include <endian.h>
#include <sodium.h>
#include <string.h>

static void index_symbols(struct alphabet *a)
{
	memset(a->digits, ALPHABET_NONE, sizeof(a->digits));
	for (uint8_t i = 0; i < ALPHABET_SIZE; i++)
		a->digits[(unsigned char)a->symbols[i]] = i;
}

void alphabet_plain(struct alphabet *a)
{
	static const char plain[] = "0123456789"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "abcdefghijklmnopqrstuvwxyz";

	_Static_assert(sizeof(plain) == ALPHABET_SIZE + 1, "62 symbols");
	memcpy(a->symbols, plain, ALPHABET_SIZE);
	index_symbols(a);
}

void alphabet_shuffled(struct alphabet *a,
		       const unsigned char seed[ALPHABET_SEED])
{
	uint64_t random[ALPHABET_SIZE];

	_Static_assert(ALPHABET_SEED == randombytes_SEEDBYTES, "seed size");
	randombytes_buf_deterministic(random, sizeof(random), seed);
	alphabet_plain(a);
	for (unsigned i = ALPHABET_SIZE - 1; i > 0; i--) {
		/* 64 bits over at most 62 places: the bias is below 2^-58. */
		unsigned j = (unsigned)(le64toh(random[i]) % (i + 1));
		char symbol = a->symbols[i];

		a->symbols[i] = a->symbols[j];
		a->symbols[j] = symbol;
	}
	index_symbols(a);
	sodium_memzero(random, sizeof(random));
}
