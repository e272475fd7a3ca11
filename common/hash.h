/*
 * hash.h - hashing of byte strings for tables in memory.
 *
 * Multiplies 16 bytes at a time, each factor mixed with a secret (as wyhash by
 * Wang Yi does), which takes a third of SipHash's time.  Whoever does not know
 * the secret cannot aim at one bucket; the values are not for storing, nor for
 * telling anybody.
 */
#ifndef COMMON_HASH_H
#define COMMON_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct hash_key {
	uint64_t secret[3];
};

/* A random one. */
int hash_key_make(struct hash_key *ret_key, struct error *err);

uint64_t hash_bytes(const struct hash_key *key, const void *data, size_t len);

#endif
