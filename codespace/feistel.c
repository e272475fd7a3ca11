#include "codespace/feistel.h"

#include <endian.h>
#include <string.h>

void feistel_init(struct feistel *f, uint64_t left_size, uint64_t right_size,
		  unsigned tags, const unsigned char key[16])
{
	struct siphash hash;
	uint64_t k[2];

	memcpy(k, key, sizeof(k));
	hash = siphash_key(le64toh(k[0]), le64toh(k[1]));
	for (uint64_t i = 0; i < FEISTEL_ROUNDS; i++)
		f->rounds[i] = siphash_prepare(hash, i << 32);
	f->left_size = left_size;
	f->right_size = right_size;
	f->reciprocal = UINT64_MAX / f->right_size;
	f->tags = tags;
	explicit_bzero(&hash, sizeof(hash));
	explicit_bzero(k, sizeof(k));
}
