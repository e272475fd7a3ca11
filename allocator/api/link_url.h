/* link_url.h - is this a URL that a short link may lead to? */
#ifndef ALLOCATOR_API_LINK_URL_H
#define ALLOCATOR_API_LINK_URL_H

#include <stddef.h>

#include "common/error.h"

#define LINK_URL_MAX 8192 /* bytes */

/*
 * http or https, a host, at most LINK_URL_MAX bytes, no blanks or control
 * characters, and what libcurl's URL parser takes.  ERROR_INPUT says what is
 * wrong with it.
 */
int link_url_check(const char *url, size_t len, struct error *err);

#endif
