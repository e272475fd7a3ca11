#include "allocator/keys/key_line.h"

#include <stdio.h>
#include <string.h>

#define NAME_SYMBOLS                                                           \
	"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz._-"

static const char blanks[] = " \t\r\n";

static const struct {
	const char *name;
	unsigned roles;
} known_roles[] = {
	{"read", API_READ},
	{"create", API_CREATE},
	{"admin", API_READ | API_CREATE | API_ADMIN},
};

static unsigned role_named(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(known_roles) / sizeof(known_roles[0]);
	     i++) {
		if (strlen(known_roles[i].name) == len &&
		    !memcmp(known_roles[i].name, name, len))
			return known_roles[i].roles;
	}
	return 0;
}

unsigned key_roles_parse(const char *text)
{
	unsigned all = 0, one;
	size_t len;

	for (;; text += len + 1) {
		len = strcspn(text, ",");
		one = role_named(text, len);
		if (!one)
			return 0;
		all |= one;
		if (!text[len])
			return all;
	}
}

bool key_name_is_good(const char *name)
{
	size_t len = strlen(name);

	return len > 0 && len < API_KEY_NAME_MAX &&
	       strspn(name, NAME_SYMBOLS) == len;
}

static int parse_digest(const char *text, unsigned char digest[API_KEY_DIGEST])
{
	size_t prefix = strlen(KEY_DIGEST_PREFIX), len;
	const char *end;

	if (strncmp(text, KEY_DIGEST_PREFIX, prefix) != 0)
		return -1;
	text += prefix;
	if (sodium_hex2bin(digest, API_KEY_DIGEST, text, strlen(text), NULL,
			   &len, &end) != 0)
		return -1;
	return len == API_KEY_DIGEST && !*end ? 0 : -1;
}

/* --- what may follow the digest ------------------------------------------- */

static int parse_limit(const char *field, struct rate_rule *rate,
		       uint64_t *burst, struct error *err)
{
	if (!strncmp(field, "rate=", 5)) {
		if (rate->count)
			return error_set(err, ERROR_INPUT,
					 "rate= is given twice");
		if (rate_rule_parse(field + 5, rate, err) < 0)
			return error_wrap(err, "rate=");
		return 0;
	}
	if (!strncmp(field, "burst=", 6)) {
		if (*burst)
			return error_set(err, ERROR_INPUT,
					 "burst= is given twice");
		if (rate_burst_parse(field + 6, burst, err) < 0)
			return error_wrap(err, "burst=");
		return 0;
	}
	return error_set(err, ERROR_INPUT,
			 "expected nothing, rate=N/s or burst=N after the "
			 "digest");
}

static int parse_limits(char **rest, struct rate_rule *rate, struct error *err)
{
	uint64_t burst = 0;
	const char *field;

	while ((field = strtok_r(NULL, blanks, rest))) {
		if (parse_limit(field, rate, &burst, err) < 0)
			return -1;
	}
	if (burst && !rate->count)
		return error_set(err, ERROR_INPUT,
				 "expected a rate= beside burst=");
	if (burst)
		rate->burst = burst;
	return 0;
}

int key_line_parse(char *line, struct key_line *ret, struct error *err)
{
	char *rest, *name, *roles, *digest;

	*ret = (struct key_line){0};
	line[strcspn(line, "#")] = '\0';
	name = strtok_r(line, blanks, &rest);
	if (!name)
		return 0;
	roles = strtok_r(NULL, blanks, &rest);
	digest = strtok_r(NULL, blanks, &rest);
	if (!roles || !digest)
		return error_set(err, ERROR_INPUT,
				 "expected 'name roles sha256:digest'");
	if (!key_name_is_good(name))
		return error_set(err, ERROR_INPUT,
				 "expected a name of at most 64 of "
				 "[0-9A-Za-z._-]");
	ret->roles = key_roles_parse(roles);
	if (!ret->roles)
		return error_set(
			err, ERROR_INPUT,
			"expected roles out of read, create and admin");
	if (parse_digest(digest, ret->digest) < 0)
		return error_set(err, ERROR_INPUT,
				 "expected sha256: and 64 hexadecimal digits");
	snprintf(ret->name, sizeof(ret->name), "%s", name);
	return parse_limits(&rest, &ret->rate, err) < 0 ? -1 : 1;
}
