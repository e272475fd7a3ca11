#include "linkstore/link/invalidation.h"

#include <stdbool.h>

#include "codespace/alias.h"

/* Returns the length of the code at the start of `text`; 0: none, or too
 * long. */
static size_t code_length(const char *text, size_t len)
{
	size_t n = 0;

	while (n < len && alias_has_symbol(text[n]))
		n++;
	return n < ALIAS_TEXT_MAX ? n : 0;
}

static bool is_well_formed(const char *message, size_t len)
{
	size_t at = 0;

	for (;;) {
		size_t n = code_length(message + at, len - at);

		if (n == 0)
			return false;
		at += n;
		if (at == len)
			return true;
		if (message[at++] != ' ')
			return false;
	}
}

enum invalidation invalidation_read(const char *message, size_t len,
				    invalidation_fn *fn, void *arg)
{
	if (len == 1 && *message == '*')
		return INVALIDATION_ALL;
	if (len > INVALIDATION_MAX || !is_well_formed(message, len))
		return INVALIDATION_MALFORMED;
	for (size_t at = 0; at < len;) {
		size_t n = code_length(message + at, len - at);

		fn(arg, message + at, n);
		at += n + 1;
	}
	return INVALIDATION_CODES;
}
