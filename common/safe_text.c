#include "common/safe_text.h"

#include <stdio.h>
#include <string.h>

static size_t put_safe_char(char out[5], unsigned char c)
{
	if (c == '\\') {
		memcpy(out, "\\\\", 3);
		return 2;
	}
	if (c >= ' ' && c < 0x7f) {
		out[0] = (char)c;
		return 1;
	}
	snprintf(out, 5, "\\x%02x", c);
	return 4;
}

const char *safe_text(char *to, size_t size, const void *bytes, size_t len)
{
	const unsigned char *from = bytes;
	size_t at = 0, fits = 0, n;
	char one[5];

	for (size_t i = 0; i < len; i++) {
		n = put_safe_char(one, from[i]);
		if (at + n >= size) {
			memcpy(to + fits, "...", 4);
			return to;
		}
		memcpy(to + at, one, n);
		at += n;
		/* The last place that leaves room for the dots. */
		if (at + 4 <= size)
			fits = at;
	}
	to[at] = '\0';
	return to;
}
