#include "codespace/feistel.h"

#include <endian.h>
#include <string.h>

void feistel_init(struct feistel *f, uint64_t left_size, uint64_t right_size,
		  const unsigned char key[16])
{
	uint64_t k[2];

	memcpy(k, key, sizeof(k));
	f->key = siphash_key(le64toh(k[0]), le64toh(k[1]));
	f->left_size = left_size;
	f->right_size = right_size;
	f->reciprocal = UINT64_MAX / f->right_size;
	explicit_bzero(k, sizeof(k));
}

static inline uint64_t high_half(uint64_t a, uint64_t b)
{
	return (uint64_t)((unsigned __int128)a * b >> 64);
}

/* Even over [0, size): `part` is below 2^32 and the round below 2^8. */
static inline uint64_t round_value(const struct feistel *f, unsigned round,
				   uint64_t part, uint64_t size)
{
	uint64_t message = part | (uint64_t)round << 32;
	uint64_t hash = siphash_7(f->key, message, 1, 3);

	return high_half(hash, size);
}

static inline uint64_t add_mod(uint64_t a, uint64_t b, uint64_t size)
{
	uint64_t sum = a + b;

	return sum >= size ? sum - size : sum;
}

static inline uint64_t sub_mod(uint64_t a, uint64_t b, uint64_t size)
{
	return a >= b ? a - b : a + size - b;
}

/* number / right_size and the rest.  A division costs as much as two rounds;
 * the product with the reciprocal is at most one too low. */
static inline struct feistel_parts split(const struct feistel *f,
					 uint64_t number)
{
	uint64_t left = high_half(number, f->reciprocal);
	uint64_t right = number - left * f->right_size;

	if (right >= f->right_size) {
		right -= f->right_size;
		left++;
	}
	return (struct feistel_parts){left, right};
}

struct feistel_parts feistel_permute(const struct feistel *f, uint64_t number)
{
	uint64_t ls = f->left_size, rs = f->right_size;
	struct feistel_parts parts = split(f, number);
	uint64_t left = parts.left, right = parts.right;

	for (unsigned i = 0; i < FEISTEL_ROUNDS; i += 2) {
		left = add_mod(left, round_value(f, i, right, ls), ls);
		right = add_mod(right, round_value(f, i + 1, left, rs), rs);
	}
	return (struct feistel_parts){left, right};
}

uint64_t feistel_invert(const struct feistel *f, struct feistel_parts parts)
{
	uint64_t ls = f->left_size, rs = f->right_size;
	uint64_t left = parts.left, right = parts.right;

	for (unsigned i = FEISTEL_ROUNDS; i > 0; i -= 2) {
		right = sub_mod(right, round_value(f, i - 1, left, rs), rs);
		left = sub_mod(left, round_value(f, i - 2, right, ls), ls);
	}
	return left * rs + right;
}
