/*
 * hash.h - hashing of byte strings for tables in memory: XXH3 (Yann Collet's
 * libxxhash) with a secret of the program's own.  Without the secret an
 * attacker cannot aim at one bucket; hash values must be neither stored nor
 * disclosed.
 */
#ifndef COMMON_HASH_H
#define COMMON_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <xxhash.h>

#include "common/error.h"

struct hash_key {
	unsigned char secret[XXH3_SECRET_SIZE_MIN];
};

/* Makes a random key. */
int hash_key_make(struct hash_key *ret_key, struct error *err);

uint64_t hash_bytes(const struct hash_key *key, const void *data, size_t len);

#endif
