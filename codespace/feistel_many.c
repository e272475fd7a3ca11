#include "codespace/feistel_many.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline))

typedef uint64_t vector __attribute__((vector_size(8 * FEISTEL_LANES)));

/* Vectors are passed by address, since passing by value depends on the
 * processor; all of this is inlined, so it costs nothing. */

INLINE void rotate(vector *x, int bits)
{
	*x = *x << bits | *x >> (64 - bits);
}

INLINE void sip_half(vector *a, vector *b, vector *c, vector *d, int rb, int rd)
{
	*a += *b;
	*c += *d;
	rotate(b, rb);
	rotate(d, rd);
	*b ^= *a;
	*d ^= *c;
	rotate(a, 32);
}

INLINE void sip_round(vector v[4])
{
	sip_half(&v[0], &v[1], &v[2], &v[3], 13, 16);
	sip_half(&v[2], &v[1], &v[0], &v[3], 17, 21);
}

/* Computes siphash_1_3_of_7 of eight parts. */
INLINE void hash(const struct feistel *f, uint64_t round, const vector *part,
		 vector *ret)
{
	const uint64_t *key = f->rounds[round].v;
	uint64_t high = round << 32 | UINT64_C(7) << 56;
	vector v[4] = {{0}, {0}, {0}, {0}};

	v[0] += key[0];
	v[1] += key[1];
	v[2] += key[2];
	v[3] = *part ^ key[3];
	v[2] += v[3];
	rotate(&v[3], 16);
	v[3] ^= v[2];
	sip_half(&v[2], &v[1], &v[0], &v[3], 17, 21);
	v[2] ^= 0xff;
	v[0] ^= *part ^ high;
	sip_round(v);
	sip_round(v);
	sip_round(v);
	*ret = v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* Adds floor(hash * size / 2^64), modulo size: vectors multiply 32 bits by 32
 * bits. */
INLINE void add(vector *part, const vector *hash, uint64_t size)
{
	vector low = (*hash & UINT32_MAX) * size >> 32;
	vector value = ((*hash >> 32) * size + low) >> 32;
	vector less = *part - size + value;

	/* All bits are set for a negative number; AVX2 has no signed shift. */
	vector wrapped = 0 - (less >> 63);

	*part = less + (wrapped & size);
}

INLINE void split(const struct feistel *f, uint64_t first,
		  struct feistel_lanes *lanes)
{
	struct feistel_parts p = feistel_split(f, first);

	for (int i = 0; i < FEISTEL_LANES; i++) {
		lanes->left[i] = p.left;
		lanes->right[i] = p.right;
		if (++p.right == f->right_size) {
			p.right = 0;
			p.left++;
		}
	}
}

INLINE void permute(const struct feistel *f, uint64_t first,
		    struct feistel_lanes *lanes)
{
	uint64_t ls = f->left_size, rs = f->right_size;
	vector left, right, tag, h;

	split(f, first, lanes);
	memcpy(&left, lanes->left, sizeof(left));
	memcpy(&right, lanes->right, sizeof(right));
	hash(f, 0, &right, &h);
	add(&left, &h, ls);
	hash(f, 1, &left, &h);
	add(&right, &h, rs);
	hash(f, 2, &right, &h);
	add(&left, &h, ls);
	hash(f, 3, &left, &tag);
	add(&right, &tag, rs);
	hash(f, 4, &right, &h);
	add(&left, &h, ls);
	tag += h;
	hash(f, 5, &left, &h);
	add(&right, &h, rs);
	tag = (tag & ((1u << FEISTEL_TAG_BITS) - 1)) * f->tags >>
	      FEISTEL_TAG_BITS;
	memcpy(lanes->left, &left, sizeof(left));
	memcpy(lanes->right, &right, sizeof(right));
	memcpy(lanes->tag, &tag, sizeof(tag));
}

#ifdef __x86_64__
__attribute__((target("avx2"))) static void
permute_avx2(const struct feistel *f, uint64_t first,
	     struct feistel_lanes *lanes)
{
	permute(f, first, lanes);
}

__attribute__((target("avx512f,avx512dq"))) static void
permute_avx512(const struct feistel *f, uint64_t first,
	       struct feistel_lanes *lanes)
{
	permute(f, first, lanes);
}

enum feistel_vectors feistel_vectors(void)
{
	if (__builtin_cpu_supports("avx512f") &&
	    __builtin_cpu_supports("avx512dq"))
		return FEISTEL_AVX512;
	return __builtin_cpu_supports("avx2") ? FEISTEL_AVX2 : FEISTEL_PLAIN;
}
#else
#define permute_avx2   permute
#define permute_avx512 permute

enum feistel_vectors feistel_vectors(void)
{
	return FEISTEL_PLAIN;
}
#endif

void feistel_permute_many(const struct feistel *f, enum feistel_vectors kind,
			  uint64_t first, struct feistel_lanes *ret_lanes)
{
	switch (kind) {
	case FEISTEL_AVX512:
		permute_avx512(f, first, ret_lanes);
		break;
	case FEISTEL_AVX2:
		permute_avx2(f, first, ret_lanes);
		break;
	case FEISTEL_PLAIN:
		permute(f, first, ret_lanes);
		break;
	}
}
