#include "common/hash.h"

#include <sys/random.h>

int hash_key_make(struct hash_key *ret_key, struct error *err)
{
	if (getrandom(ret_key, sizeof(*ret_key), 0) != sizeof(*ret_key))
		return error_set_errno(err, "random bytes for hashing");
	return 0;
}

uint64_t hash_bytes(const struct hash_key *key, const void *data, size_t len)
{
	return XXH3_64bits_withSecret(data, len, key->secret,
				      sizeof(key->secret));
}
