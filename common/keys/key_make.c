#include "common/keys/key_make.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/keys/key_line.h"

#define KEY_PREFIX "slk_"
#define KEY_BYTES  32

static int check_limits(const struct key_make_options *options,
			struct error *err)
{
	struct rate_rule rule;
	struct error why = {0};

	if (options->burst && !options->rate)
		return error_set(err, ERROR_USAGE,
				 "--burst: expected a --rate beside it");
	if (options->rate && rate_rule_parse(options->rate, &rule, &why) < 0)
		return error_set(err, ERROR_USAGE,
				 "--rate '%.20s': expected a number, 1 to %d, "
				 "and /s, /m or /h",
				 options->rate, RATE_COUNT_MAX);
	if (options->burst &&
	    rate_burst_parse(options->burst, &rule.burst, &why) < 0)
		return error_set(err, ERROR_USAGE,
				 "--burst '%.20s': expected a number, 1 to %d",
				 options->burst, RATE_COUNT_MAX);
	return 0;
}

/* Parses the line like the file's reader, which checks accounts, owners and
 * spaces. */
static int check_line(const struct buf *line, struct error *err)
{
	struct key_line parsed;
	struct error why = {0};
	char *copy = line->failed ? NULL : strndup(line->data, line->len);
	int found;

	if (!copy)
		return error_set_nomem(err);
	found = key_line_parse(copy, &parsed, &why);
	key_line_release(&parsed);
	free(copy);
	/* A '#' would begin a comment. */
	if (found == 1 && !memchr(line->data, '#', line->len))
		return 0;
	return error_set(err, ERROR_USAGE, "%s",
			 found < 0 ? why.text : "expected %%23 for a '#'");
}

static int check_key_options(const struct key_make_options *options,
			     struct error *err)
{
	if (!key_line_name_is_valid(options->name))
		return error_set(err, ERROR_USAGE,
				 "'%s': expected a name of at most 64 of "
				 "[0-9A-Za-z._-]",
				 options->name);
	if (!key_line_parse_roles(options->roles))
		return error_set(
			err, ERROR_USAGE,
			"'%s': expected roles out of read, read-own, visitors, "
			"create and admin, separated by commas",
			options->roles);
	return check_limits(options, err);
}

static void put_word(struct buf *line, const char *name, const char *value)
{
	if (value)
		buf_printf(line, " %s=%s", name, value);
}

int key_make(const struct key_make_options *options, char ret_key[KEY_TEXT_MAX],
	     struct buf *ret_line, struct error *err)
{
	unsigned char secret[KEY_BYTES], digest[API_KEY_DIGEST];
	char hex[2 * API_KEY_DIGEST + 1], text[64];

	if (check_key_options(options, err) < 0)
		return -1;
	randombytes_buf(secret, sizeof(secret));
	sodium_bin2base64(text, sizeof(text), secret, sizeof(secret),
			  sodium_base64_VARIANT_URLSAFE_NO_PADDING);
	snprintf(ret_key, KEY_TEXT_MAX, KEY_PREFIX "%.58s", text);
	crypto_hash_sha256(digest, (const unsigned char *)ret_key,
			   strlen(ret_key));
	sodium_bin2hex(hex, sizeof(hex), digest, sizeof(digest));
	sodium_memzero(secret, sizeof(secret));
	buf_reset(ret_line);
	buf_printf(ret_line, "%s %s " KEY_DIGEST_PREFIX "%s", options->name,
		   options->roles, hex);
	put_word(ret_line, "account", options->account);
	put_word(ret_line, "accounts", options->accounts);
	put_word(ret_line, "owners", options->owners);
	put_word(ret_line, "spaces", options->spaces);
	put_word(ret_line, "rate", options->rate);
	put_word(ret_line, "burst", options->burst);
	return check_line(ret_line, err);
}
