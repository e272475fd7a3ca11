#include "common/url_scheme.h"

#include <ctype.h>
#include <string.h>

bool url_scheme(const char *url, size_t len, char ret_scheme[URL_SCHEME_MAX])
{
	size_t i;

	for (i = 0; i < len && i < URL_SCHEME_MAX - 1; i++) {
		unsigned char c = (unsigned char)url[i];

		if (c == ':')
			break;
		/* strchr also finds a NUL. */
		if (!c || c >= 0x80 ||
		    (!isalnum(c) && (i == 0 || !strchr("+-.", c))))
			return false;
		ret_scheme[i] = (char)tolower(c);
	}
	ret_scheme[i] = '\0';
	return i > 0 && i < len && url[i] == ':' &&
	       isalpha((unsigned char)url[0]);
}

const char *const url_web_schemes[] = {"http", "https", NULL};

bool url_scheme_is_web(const char *scheme)
{
	for (size_t i = 0; url_web_schemes[i]; i++) {
		if (!strcmp(url_web_schemes[i], scheme))
			return true;
	}
	return false;
}

bool url_scheme_is_dangerous(const char *scheme)
{
	static const char *const names[] = {"javascript",  "data",
					    "vbscript",	   "file",
					    "blob",	   "filesystem",
					    "view-source", "about",
					    "livescript",  "jar",
					    "mhtml",	   "ms-its",
					    "chrome",	   "chrome-extension"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(names[i], scheme))
			return true;
	}
	return false;
}
