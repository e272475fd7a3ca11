#include "common/keys/key_line.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#define NAME_SYMBOLS                                                           \
	"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz._-"

static const char blanks[] = " \t\r\n";

/* `read` alone loses API_READ_ALL again at the end of the line, unless that
 * says accounts=*. */
static const struct {
	const char *name;
	unsigned roles;
} known_roles[] = {
	{"read", API_READ_ALL | API_READ},
	{"read-own", API_READ},
	{"create", API_CREATE},
	{"visitors", API_VISITORS},
	{"admin",
	 API_READ_ALL | API_READ | API_CREATE | API_ADMIN | API_VISITORS},
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

unsigned key_line_parse_roles(const char *text)
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

bool key_line_name_is_valid(const char *name)
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

/* --- words after the digest ----------------------------------------------- */

static int read_rate(struct key_line *line, const char *text, struct error *err)
{
	uint64_t burst = line->rate.burst;

	line->has_rate = true;
	if (!strcmp(text, "none"))
		return 0;
	if (rate_rule_parse(text, &line->rate, err) < 0)
		return -1;
	/* burst= may come first. */
	if (burst)
		line->rate.burst = burst;
	return 0;
}

static int read_burst(struct key_line *line, const char *text,
		      struct error *err)
{
	return rate_burst_parse(text, &line->rate.burst, err);
}

static int read_account(struct key_line *line, const char *text,
			struct error *err)
{
	if (!key_line_name_is_valid(text))
		return error_set(err, ERROR_INPUT,
				 "expected a name of at most 64 of "
				 "[0-9A-Za-z._-]");
	snprintf(line->account, sizeof(line->account), "%s", text);
	return 0;
}

static int read_accounts(struct key_line *line, const char *text,
			 struct error *err)
{
	if (line->roles & API_ADMIN)
		return error_set(err, ERROR_INPUT,
				 "a key with the role admin reads all");
	if (!(line->roles & API_READ_ALL))
		return error_set(err, ERROR_INPUT,
				 "only the role read may read all accounts");
	if (strcmp(text, "*") != 0)
		return error_set(err, ERROR_INPUT, "expected *, for all");
	line->all_accounts = true;
	return 0;
}

static int read_owners(struct key_line *line, const char *text,
		       struct error *err)
{
	if (line->roles & API_ADMIN)
		return error_set(err, ERROR_INPUT,
				 "a key with the role admin writes for all");
	line->owners = key_names_parse(text, err);
	return line->owners ? 0 : -1;
}

static int read_spaces(struct key_line *line, const char *text,
		       struct error *err)
{
	const char *name = NULL;

	if (line->roles & API_ADMIN)
		return error_set(err, ERROR_INPUT,
				 "a key with the role admin uses all");
	line->spaces = key_names_parse(text, err);
	if (!line->spaces)
		return -1;
	while ((name = key_names_next(line->spaces, name))) {
		if (!*name)
			return error_set(err, ERROR_INPUT,
					 "expected names of spaces, separated "
					 "by commas");
	}
	return 0;
}

static const struct {
	const char *name; /* with its '=' */
	int (*read)(struct key_line *line, const char *text, struct error *err);
} words[] = {
	{"rate=", read_rate},	    {"burst=", read_burst},
	{"account=", read_account}, {"accounts=", read_accounts},
	{"owners=", read_owners},   {"spaces=", read_spaces},
};
#define WORDS (sizeof(words) / sizeof(words[0]))

/* Reads one word; each may be given once. */
static int read_word(struct key_line *line, const char *word, unsigned *given,
		     struct error *err)
{
	for (size_t i = 0; i < WORDS; i++) {
		size_t len = strlen(words[i].name);

		if (strncmp(word, words[i].name, len) != 0)
			continue;
		if (*given & 1U << i)
			return error_set(err, ERROR_INPUT, "%s is given twice",
					 words[i].name);
		*given |= 1U << i;
		if (words[i].read(line, word + len, err) < 0)
			return error_wrap(err, "%s", words[i].name);
		return 0;
	}
	return error_set(err, ERROR_INPUT,
			 "expected nothing, rate=N/s, burst=N, account=NAME, "
			 "accounts=*, owners=NAME,... or spaces=NAME,... after "
			 "the digest");
}

static int read_words(char **rest, struct key_line *line, struct error *err)
{
	unsigned given = 0;
	const char *word;

	while ((word = strtok_r(NULL, blanks, rest))) {
		if (read_word(line, word, &given, err) < 0)
			return -1;
	}
	if (line->rate.burst && !line->rate.count)
		return error_set(err, ERROR_INPUT,
				 "expected a rate= beside burst=");
	if (line->all_accounts && line->owners)
		return error_set(err, ERROR_INPUT,
				 "owners= are those of one account: expected "
				 "no accounts= beside it");
	if (!line->all_accounts && !(line->roles & API_ADMIN))
		line->roles &= ~(unsigned)API_READ_ALL;
	if (!*line->account)
		memcpy(line->account, line->name, sizeof(line->account));
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
	if (!key_line_name_is_valid(name))
		return error_set(err, ERROR_INPUT,
				 "expected a name of at most 64 of "
				 "[0-9A-Za-z._-]");
	ret->roles = key_line_parse_roles(roles);
	if (!ret->roles)
		return error_set(err, ERROR_INPUT,
				 "expected roles out of read, read-own, "
				 "visitors, create and admin");
	if ((ret->roles & API_VISITORS) && !(ret->roles & API_READ))
		return error_set(err, ERROR_INPUT,
				 "expected read or read-own beside the role "
				 "visitors");
	if (parse_digest(digest, ret->digest) < 0)
		return error_set(err, ERROR_INPUT,
				 "expected sha256: and 64 hexadecimal digits");
	snprintf(ret->name, sizeof(ret->name), "%s", name);
	return read_words(&rest, ret, err) < 0 ? -1 : 1;
}

void key_line_release(struct key_line *line)
{
	key_names_free(line->owners);
	key_names_free(line->spaces);
	line->owners = line->spaces = NULL;
}
