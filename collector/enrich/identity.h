/* identity.h - who a visitor is, as far as an address and a browser tell. */
#ifndef COLLECTOR_ENRICH_IDENTITY_H
#define COLLECTOR_ENRICH_IDENTITY_H

#include <stddef.h>

#include "common/error.h"

enum {
	IDENTITY_LEN = 20
};

struct identity_hasher;

struct identity_hasher *identity_hasher_new(struct error *err);
void identity_hasher_free(struct identity_hasher *h); /* NULL accepted */

/* SHA-1 of the address' bytes followed by the user agent. */
int identity_of(struct identity_hasher *h, const void *ip, size_t ip_len,
		const void *user_agent, size_t user_agent_len,
		unsigned char ret_identity[IDENTITY_LEN], struct error *err);

#endif
