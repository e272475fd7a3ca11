#include "collector/enrich/reference.h"

#include <openssl/evp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "collector/collector_config.h"
#include "collector/enrich/click_verdict.h"
#include "common/agent/bots.h"
#include "common/agent/structure.h"
#include "common/error.h"
#include "common/read_file.h"

/* --- number of the rules for verdicts ------------------------------------- */

/*
 * The column `verdict_version`: the upper 8 bits are VERDICT_VERSION, the lower
 * 24 come from a SHA-256 of the robots' patterns (ours and the lists'), the
 * forms of agents, the user-agent rules' file, the operator's rules and the
 * limits of bursts.  The same rules have the same number everywhere; rows with
 * another number were classified by other rules.
 *
 * rules_number reads these files once more.  One that cannot be read is
 * ERROR_CONFIG naming it.
 */

/* The result is not checked: an error of libcrypto also shows at the end. */
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
	struct error why;
	FILE *f = plain_file_stream(path, &why);
	size_t n;
	int status = 0;

	if (!f)
		return error_set(err, ERROR_CONFIG, "%s: %s", path, why.text);
	while ((n = fread(bytes, 1, sizeof(bytes), f)) > 0)
		EVP_DigestUpdate(ctx, bytes, n);
	if (ferror(f))
		status = error_set_errno(err, "%s", path);
	fclose(f);
	return status;
}

static bool has_rules(const struct collector_settings *settings)
{
	return settings->verdict_rules && *settings->verdict_rules;
}

static int put_all(EVP_MD_CTX *ctx, const struct collector_settings *settings,
		   const struct bots *bots, struct error *err)
{
	put_bots(ctx, bots);
	put_number(ctx, (uint64_t)settings->scan_window);
	put_number(ctx, (uint64_t)settings->scan_codes);
	put_number(ctx, (uint64_t)settings->scan_not_found);
	if (put_file(ctx, settings->ua_rules, err) < 0 ||
	    (has_rules(settings) &&
	     put_file(ctx, settings->verdict_rules, err) < 0)) {
		err->code = ERROR_CONFIG;
		return -1;
	}
	return 0;
}

static int rules_number(const struct collector_settings *settings,
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

/* --- load ----------------------------------------------------------------- */

int reference_load_rules(struct reference *ref,
			 const struct collector_settings *settings,
			 struct error *err)
{
	const struct bots_source bots = {
		.list = settings->robots.list,
		.patterns = settings->robots.patterns,
		.except = &settings->robots.except,
		.jit = true,
	};
	uint32_t before;

	ref->sources = sources_load(settings->source_list, err);
	if (!ref->sources)
		return -1;
	ref->bots = bots_load(&bots, true, err);
	if (!ref->bots || rules_number(settings, ref->bots, &before, err) < 0)
		return -1;
	ref->verdict_rules = verdict_rules_load(settings->verdict_rules,
						settings->store_ip, err);
	if (!ref->verdict_rules)
		return -1;
	ref->ua = ua_rules_load(settings->ua_rules, true, err);
	if (!ref->ua || rules_number(settings, ref->bots, &ref->rules, err) < 0)
		return -1;
	if (ref->rules == before)
		return 0;
	return error_set(err, ERROR_CONFIG,
			 "%s%s%s was changed while it was read",
			 settings->ua_rules, has_rules(settings) ? " or " : "",
			 has_rules(settings) ? settings->verdict_rules : "");
}

int reference_load_places(struct reference *ref,
			  const struct collector_settings *settings,
			  struct error *err)
{
	ref->geo = geo_open(&settings->geo_files, settings->geo_language, err);
	return ref->geo ? 0 : -1;
}

void reference_release(struct reference *ref)
{
	ua_rules_free(ref->ua);
	bots_free(ref->bots);
	sources_free(ref->sources);
	verdict_rules_free(ref->verdict_rules);
	geo_close(ref->geo);
	*ref = (struct reference){0};
}

const char *reference_remark(const struct reference *ref)
{
	if (ref->verdict_rules->by_asn && !geo_count(ref->geo))
		return "verdict_rules name asn, and there are no geo_files: "
		       "such rules take nothing";
	return NULL;
}
