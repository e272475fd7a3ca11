#include "common/hash.h"

#include <string.h>
#include <sys/random.h>

int hash_key_make(struct hash_key *ret_key, struct error *err)
{
	if (getrandom(ret_key, sizeof(*ret_key), 0) != sizeof(*ret_key))
		return error_set_errno(err, "random bytes for hashing");
	return 0;
}

static uint64_t fold(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t load(const unsigned char *p, size_t len)
{
	uint64_t v = 0;

	memcpy(&v, p, len);
	return v;
}

/* Up to 16 bytes in two words. */
static void load_rest(const unsigned char *p, size_t len, uint64_t *a,
		      uint64_t *b)
{
	if (len >= 8) {
		*a = load(p, 8);
		*b = load(p + len - 8, 8);
	} else if (len >= 4) {
		*a = load(p, 4);
		*b = load(p + len - 4, 4);
	} else if (len) {
		*a = (uint64_t)p[0] << 16 | (uint64_t)p[len / 2] << 8 |
		     p[len - 1];
		*b = 0;
	} else {
		*a = *b = 0;
	}
}

uint64_t hash_bytes(const struct hash_key *key, const void *data, size_t len)
{
	const unsigned char *p = data;
	uint64_t hash = key->secret[0] ^ len, a, b;

	for (; len > 16; len -= 16, p += 16)
		hash = fold(load(p, 8) ^ key->secret[1], load(p + 8, 8) ^ hash);
	load_rest(p, len, &a, &b);
	return fold(a ^ key->secret[1], fold(b ^ key->secret[2], hash));
}
