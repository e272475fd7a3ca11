/* language.h - the preferred language of a visitor. */
#ifndef COLLECTOR_ENRICH_LANGUAGE_H
#define COLLECTOR_ENRICH_LANGUAGE_H

#include <stddef.h>

enum {
	LANGUAGE_MAX = 3
};

/*
 * Returns the primary subtag ("en") of the tag in Accept-Language with the
 * highest weight, the first of several (RFC 9110, 12.5.4); "" if there is none.
 */
void language_parse(const char *text, size_t len,
		    char ret_language[LANGUAGE_MAX + 1]);

#endif
