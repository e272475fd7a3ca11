#include "codespace/alias.h"

#include <string.h>
#include <strings.h>

/* Paths that our programs answer, that clients request from every site, or that
 * visitors would take for the site's own. */
static const char *const reserved[] = {
	"admin",   "api",     "assets",	  "batch",	"dashboard", "docs",
	"edit",	   "favicon", "health",	  "healthz",	"help",	     "index",
	"login",   "logout",  "metrics",  "openapi",	"qr",	     "readyz",
	"robots",  "root",    "security", "shortloop",	"signin",    "signup",
	"sitemap", "static",  "status",	  "support",	"v1",	     "v2",
	"v3",	   "web",     "webmail",  "well-known", "www",
};

int alias_check(const char *alias, size_t len, struct error *err)
{
	if (len < 1 || len > ALIAS_LENGTH_MAX)
		return error_set(err, ERROR_INPUT,
				 "an alias has 1 to %d characters, not %zu",
				 ALIAS_LENGTH_MAX, len);
	for (size_t i = 0; i < len; i++)
		if (!alias_has_symbol(alias[i]))
			return error_set(err, ERROR_INPUT,
					 "an alias has only 0-9, A-Z, a-z, _ "
					 "and -; byte %zu is 0x%02x",
					 i + 1, (unsigned char)alias[i]);
	return 0;
}

static bool is_word(const char *alias, size_t len, const char *word)
{
	return strlen(word) == len && !strncasecmp(alias, word, len);
}

bool alias_is_reserved(const char *alias, size_t len, const char *const *more,
		       size_t count)
{
	for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++)
		if (is_word(alias, len, reserved[i]))
			return true;
	for (size_t i = 0; i < count; i++)
		if (is_word(alias, len, more[i]))
			return true;
	return false;
}
