#include "collector/enrich/verdict_rules.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "collector/enrich/bots/structure.h"
#include "collector/enrich/verdict.h"

/* What libcrypto refuses, it refuses at the end too. */
static void put_number(EVP_MD_CTX *ctx, uint64_t n)
{
	unsigned char bytes[8];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(n >> 8 * i);
	EVP_DigestUpdate(ctx, bytes, sizeof(bytes));
}

static void put_text(EVP_MD_CTX *ctx, const char *text)
{
	EVP_DigestUpdate(ctx, text, strlen(text) + 1);
}

static void put_bots(EVP_MD_CTX *ctx, const struct bots *bots)
{
	for (size_t i = 0; i < bots_count(bots); i++) {
		struct bot bot = bots_at(bots, i);

		put_number(ctx, bot.kind);
		put_number(ctx, bot.origin);
		put_number(ctx, bot.vague);
		put_text(ctx, bot.pattern);
		put_text(ctx, bot.reason ? bot.reason : "");
	}
	for (size_t i = 0; i < browser_form_count; i++)
		put_text(ctx, browser_forms[i]);
}

static int put_file(EVP_MD_CTX *ctx, const char *path, struct error *err)
{
	char bytes[16384];
	FILE *f = fopen(path, "re");
	size_t n;
	int status = 0;

	if (!f)
		return error_set_errno(err, "%s", path);
	while ((n = fread(bytes, 1, sizeof(bytes), f)) > 0)
		EVP_DigestUpdate(ctx, bytes, n);
	if (ferror(f))
		status = error_set_errno(err, "%s", path);
	fclose(f);
	return status;
}

static int put_all(EVP_MD_CTX *ctx, const struct collector_settings *settings,
		   const struct bots *bots, struct error *err)
{
	put_bots(ctx, bots);
	put_number(ctx, (uint64_t)settings->scan_window);
	put_number(ctx, (uint64_t)settings->scan_codes);
	put_number(ctx, (uint64_t)settings->scan_not_found);
	if (put_file(ctx, settings->ua_rules, err) < 0) {
		err->code = ERROR_CONFIG;
		return -1;
	}
	return 0;
}

int verdict_rules_number(const struct collector_settings *settings,
			 const struct bots *bots, uint32_t *ret_number,
			 struct error *err)
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	int status = -1;

	if (!ctx || !EVP_DigestInit_ex(ctx, EVP_sha256(), NULL))
		error_set(err, ERROR_SYSTEM, "libcrypto has no SHA-256");
	else if (put_all(ctx, settings, bots, err) == 0)
		status = EVP_DigestFinal_ex(ctx, digest, NULL)
				 ? 0
				 : error_set(err, ERROR_SYSTEM,
					     "libcrypto has no SHA-256");
	EVP_MD_CTX_free(ctx);
	if (status < 0)
		return -1;
	*ret_number = (uint32_t)VERDICT_VERSION << 24 |
		      (uint32_t)digest[0] << 16 | (uint32_t)digest[1] << 8 |
		      digest[2];
	return 0;
}
