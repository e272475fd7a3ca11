#include "codespace/digits.h"

/* Any sum with it is at least 2^32, and a sum of five does not overflow. */
#define NO_SYMBOL (UINT64_C(1) << 40)

void digits_init(struct digits *d, const struct alphabet *alphabet)
{
	unsigned base = alphabet->size;
	uint64_t worth = 1;

	d->pairs = base * base;
	d->reciprocal = (UINT64_C(1) << DIGITS_SHIFT) / d->pairs + 1;
	for (unsigned i = 0; i < d->pairs; i++) {
		d->pair[i][0] = alphabet->symbols[i / base];
		d->pair[i][1] = alphabet->symbols[i % base];
	}
	for (unsigned place = 0; place < DIGITS_MAX; place++) {
		for (unsigned c = 0; c < 256; c++)
			d->worth[place][c] =
				alphabet->digits[c] == ALPHABET_NONE
					? NO_SYMBOL
					: alphabet->digits[c] * worth;
		worth *= base;
	}
}
