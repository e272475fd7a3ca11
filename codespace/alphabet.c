#include "codespace/alphabet.h"

#include <endian.h>
#include <sodium.h>
#include <string.h>

static void index_symbols(struct alphabet *a)
{
	memset(a->digits, ALPHABET_NONE, sizeof(a->digits));
	for (unsigned i = 0; i < a->size; i++)
		a->digits[(unsigned char)a->symbols[i]] = (uint8_t)i;
}

bool alphabet_has(unsigned size)
{
	return size == ALPHABET_SIZE || size == ALPHABET_CLEAR;
}

void alphabet_plain(struct alphabet *a, unsigned size)
{
	static const char all[] = "0123456789"
				  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "abcdefghijklmnopqrstuvwxyz";
	static const char clear[] = "23456789"
				    "ABCDEFGHJKLMNPQRSTUVWXYZ"
				    "abcdefghijkmnopqrstuvwxyz";

	_Static_assert(sizeof(all) == ALPHABET_SIZE + 1, "62 symbols");
	_Static_assert(sizeof(clear) == ALPHABET_CLEAR + 1, "57 symbols");
	memset(a, 0, sizeof(*a));
	a->size = size;
	memcpy(a->symbols, size == ALPHABET_CLEAR ? clear : all, size);
	index_symbols(a);
}

void alphabet_shuffled(struct alphabet *a, unsigned size,
		       const unsigned char seed[ALPHABET_SEED])
{
	uint64_t random[ALPHABET_SIZE];

	_Static_assert(ALPHABET_SEED == randombytes_SEEDBYTES, "seed size");
	randombytes_buf_deterministic(random, sizeof(random), seed);
	alphabet_plain(a, size);
	for (unsigned i = size - 1; i > 0; i--) {
		/* 64 bits over at most 62 places: the bias is below 2^-58. */
		unsigned j = (unsigned)(le64toh(random[i]) % (i + 1));
		char symbol = a->symbols[i];

		a->symbols[i] = a->symbols[j];
		a->symbols[j] = symbol;
	}
	index_symbols(a);
	sodium_memzero(random, sizeof(random));
}
