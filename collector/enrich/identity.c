#include "collector/enrich/identity.h"

#include <openssl/evp.h>
#include <stdlib.h>

struct identity_hasher {
	EVP_MD *sha1; /* fetched once: looking it up costs more than hashing */
	EVP_MD_CTX *ctx;
};

struct identity_hasher *identity_hasher_new(struct error *err)
{
	struct identity_hasher *h = calloc(1, sizeof(*h));

	if (!h) {
		error_set_nomem(err);
		return NULL;
	}
	h->sha1 = EVP_MD_fetch(NULL, "SHA1", NULL);
	h->ctx = EVP_MD_CTX_new();
	if (h->sha1 && h->ctx)
		return h;
	error_set(err, ERROR_SYSTEM, "libcrypto offers no SHA-1");
	identity_hasher_free(h);
	return NULL;
}

void identity_hasher_free(struct identity_hasher *h)
{
	if (!h)
		return;
	EVP_MD_CTX_free(h->ctx);
	EVP_MD_free(h->sha1);
	free(h);
}

int identity_of(struct identity_hasher *h, const void *ip, size_t ip_len,
		const void *user_agent, size_t user_agent_len,
		unsigned char ret_identity[IDENTITY_LEN], struct error *err)
{
	if (EVP_DigestInit_ex2(h->ctx, h->sha1, NULL) &&
	    EVP_DigestUpdate(h->ctx, ip, ip_len) &&
	    EVP_DigestUpdate(h->ctx, user_agent, user_agent_len) &&
	    EVP_DigestFinal_ex(h->ctx, ret_identity, NULL))
		return 0;
	return error_set(err, ERROR_SYSTEM, "libcrypto: SHA-1 failed");
}
