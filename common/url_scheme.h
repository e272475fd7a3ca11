/* url_scheme.h - reads the scheme of a URL, and names the schemes that no link
 * may have. */
#ifndef COMMON_URL_SCHEME_H
#define COMMON_URL_SCHEME_H

#include <stdbool.h>
#include <stddef.h>

#define URL_SCHEME_MAX 32 /* including its NUL */

/* Returns the scheme before the colon, in lower case; false: there is none. */
bool url_scheme(const char *url, size_t len, char ret_scheme[URL_SCHEME_MAX]);

/* The schemes of the web; then NULL. */
extern const char *const url_web_schemes[];

/* Returns true if the scheme, in lower case, is one of them. */
bool url_scheme_is_web(const char *scheme);

/* Returns true if the scheme runs or reads something on the visitor's machine,
 * or wraps a scheme that does.  `scheme` is in lower case. */
bool url_scheme_is_dangerous(const char *scheme);

#endif
