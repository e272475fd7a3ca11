/* url_scheme.h - what a URL begins with, and which of these no link may have.
 */
#ifndef COMMON_URL_SCHEME_H
#define COMMON_URL_SCHEME_H

#include <stdbool.h>
#include <stddef.h>

#define URL_SCHEME_MAX 32 /* with its NUL */

/* The scheme in front of a colon, in lower case; false: there is none. */
bool url_scheme(const char *url, size_t len, char ret_scheme[URL_SCHEME_MAX]);

/* Does it run or read something on the visitor's machine, or wrap what does?
 * `scheme` is in lower case. */
bool url_scheme_is_dangerous(const char *scheme);

#endif
