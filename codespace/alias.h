/*
 * alias.h - the names that users may give a link: 1 to 64 of 0-9, A-Z, a-z, _
 * and -.
 */
#ifndef CODESPACE_ALIAS_H
#define CODESPACE_ALIAS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"

#define ALIAS_LENGTH_MAX 64
#define ALIAS_TEXT_MAX	 (ALIAS_LENGTH_MAX + 1) /* including its NUL */

/* Returns true if an alias may contain it.  Every generated code consists of
 * these, too. */
static inline bool alias_has_symbol(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
	       (c >= 'a' && c <= 'z') || c == '_' || c == '-';
}

/* Returns -1 with ERROR_INPUT, which has the fault and its place. */
int alias_check(const char *alias, size_t len, struct error *err);

/*
 * Returns true for a word that a domain needs for itself (api, robots, admin
 * ...) or one of the `count` words of `more`.  Upper and lower case are the
 * same here: a user reads "Admin" like "admin", so it cannot be a link either.
 */
bool alias_is_reserved(const char *alias, size_t len, const char *const *more,
		       size_t count);

#endif
