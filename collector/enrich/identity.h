/*
 * identity.h - identifies a visitor by address and browser; decides which part
 * of the address is stored.
 */
#ifndef COLLECTOR_ENRICH_IDENTITY_H
#define COLLECTOR_ENRICH_IDENTITY_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

enum {
	IDENTITY_LEN = 20,
	IDENTITY_SECRET_MIN = 16, /* bytes */
};

struct identity_hasher;

/*
 * Without a secret, identities are SHA-1 of the address' bytes and the user
 * agent: anyone with a list of both can reverse them.  With a secret they are
 * keyed BLAKE2b (RFC 7693, 160 bits) of the same, under a key of each UTC day
 * that is derived from the secret.  Only holders of the secret can find the
 * visitor, or follow one from day to day.  Collectors with the same secret give
 * the same identities.  The secret is copied.
 */
struct identity_hasher *identity_hasher_new(const char *secret,
					    struct error *err);
void identity_hasher_free(struct identity_hasher *h); /* NULL accepted */

/* `ip_len` is 4, 16 or 0; `ts` the row's time, ms UTC. */
int identity_of(struct identity_hasher *h, const void *ip, size_t ip_len,
		const void *user_agent, size_t user_agent_len, int64_t ts,
		unsigned char ret_identity[IDENTITY_LEN], struct error *err);

/*
 * Sets the bits after the network to 0: after /24 of an IPv4 address (given as
 * ::ffff:a.b.c.d), /48 of IPv6; /40 of 6to4, whose 17th to 48th bit are an IPv4
 * address.
 */
void identity_truncate(uint8_t ip[16]);

#endif
