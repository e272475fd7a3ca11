#include "collector/enrich/identity.h"

#include <openssl/evp.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/ip.h"

struct identity_hasher {
	EVP_MD *sha1; /* fetched once: fetching it costs more than hashing */
	EVP_MD_CTX *ctx;
	bool keyed;
	unsigned char secret_key[crypto_generichash_KEYBYTES];
	/* The key of the last day used; it is cached since rows of a day arrive
	 * together. */
	unsigned char day_key[crypto_generichash_KEYBYTES];
	int64_t day; /* -1: none yet */
};

static int use_secret(struct identity_hasher *h, const char *secret,
		      struct error *err)
{
	if (sodium_init() < 0)
		return error_set(err, ERROR_SYSTEM, "libsodium: no randomness");
	h->keyed = true;
	crypto_generichash(h->secret_key, sizeof(h->secret_key),
			   (const unsigned char *)secret, strlen(secret), NULL,
			   0);
	return 0;
}

struct identity_hasher *identity_hasher_new(const char *secret,
					    struct error *err)
{
	struct identity_hasher *h = calloc(1, sizeof(*h));

	if (!h) {
		error_set_nomem(err);
		return NULL;
	}
	h->day = -1;
	h->sha1 = EVP_MD_fetch(NULL, "SHA1", NULL);
	h->ctx = EVP_MD_CTX_new();
	if (!h->sha1 || !h->ctx)
		error_set(err, ERROR_SYSTEM, "libcrypto offers no SHA-1");
	else if (!secret || use_secret(h, secret, err) == 0)
		return h;
	identity_hasher_free(h);
	return NULL;
}

void identity_hasher_free(struct identity_hasher *h)
{
	if (!h)
		return;
	EVP_MD_CTX_free(h->ctx);
	EVP_MD_free(h->sha1);
	sodium_memzero(h, sizeof(*h));
	free(h);
}

static void use_day(struct identity_hasher *h, int64_t day)
{
	static const char purpose[] = "shortloop visitor of day ";
	unsigned char text[sizeof(purpose) + 7];

	if (day == h->day)
		return;
	memcpy(text, purpose, sizeof(purpose) - 1);
	for (int i = 0; i < 8; i++)
		text[sizeof(purpose) - 1 + (size_t)i] =
			(unsigned char)((uint64_t)day >> (8 * i));
	crypto_generichash(h->day_key, sizeof(h->day_key), text, sizeof(text),
			   h->secret_key, sizeof(h->secret_key));
	h->day = day;
}

/* The address' length is hashed first, so that different pairs never give the
 * same bytes. */
static void keyed_identity(struct identity_hasher *h, const void *ip,
			   size_t ip_len, const void *user_agent,
			   size_t user_agent_len, unsigned char *ret_identity)
{
	crypto_generichash_state state;
	unsigned char len = (unsigned char)ip_len;

	crypto_generichash_init(&state, h->day_key, sizeof(h->day_key),
				IDENTITY_LEN);
	crypto_generichash_update(&state, &len, 1);
	crypto_generichash_update(&state, ip, ip_len);
	crypto_generichash_update(&state, user_agent, user_agent_len);
	crypto_generichash_final(&state, ret_identity, IDENTITY_LEN);
}

int identity_of(struct identity_hasher *h, const void *ip, size_t ip_len,
		const void *user_agent, size_t user_agent_len, int64_t ts,
		unsigned char ret_identity[IDENTITY_LEN], struct error *err)
{
	if (h->keyed) {
		use_day(h, ts / CLOCK_DAY);
		keyed_identity(h, ip, ip_len, user_agent, user_agent_len,
			       ret_identity);
		return 0;
	}
	if (EVP_DigestInit_ex2(h->ctx, h->sha1, NULL) &&
	    EVP_DigestUpdate(h->ctx, ip, ip_len) &&
	    EVP_DigestUpdate(h->ctx, user_agent, user_agent_len) &&
	    EVP_DigestFinal_ex(h->ctx, ret_identity, NULL))
		return 0;
	return error_set(err, ERROR_SYSTEM, "libcrypto: SHA-1 failed");
}

void identity_truncate(uint8_t ip[16])
{
	size_t kept = 6;

	if (ip_is_mapped(ip))
		kept = 15;
	else if (ip[0] == 0x20 && ip[1] == 0x02)
		kept = 5;
	memset(ip + kept, 0, 16 - kept);
}
