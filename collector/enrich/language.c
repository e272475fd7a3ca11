#include "collector/enrich/language.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* Parses "q=0.8" in thousandths; returns 1000 without a weight. */
static int weight_of(const char *at, const char *end)
{
	const char *q = memchr(at, ';', (size_t)(end - at));
	int weight = 0, scale = 100;

	if (!q)
		return 1000;
	for (q++; q < end && *q == ' ';)
		q++;
	if (end - q < 3 || (*q != 'q' && *q != 'Q') || q[1] != '=')
		return 1000;
	if (q[2] == '1')
		return 1000;
	for (q += 4; q < end && isdigit((unsigned char)*q); q++) {
		weight += (*q - '0') * scale;
		scale /= 10;
	}
	return weight;
}

/* Copies the primary subtag at `at`; returns false if it is no language. */
static bool copy_subtag(const char *at, const char *end, char *out)
{
	size_t n = 0;

	for (; at < end && isalpha((unsigned char)*at); at++) {
		if (n == LANGUAGE_MAX)
			return false;
		out[n++] = (char)tolower((unsigned char)*at);
	}
	out[n] = '\0';
	return n >= 2 && (at == end || strchr("-_; ", *at));
}

void language_parse(const char *text, size_t len,
		    char ret_language[LANGUAGE_MAX + 1])
{
	const char *end = len ? text + len : text;
	int best = 0;

	ret_language[0] = '\0';
	for (const char *at = text; at && at < end;) {
		const char *comma = memchr(at, ',', (size_t)(end - at));
		const char *stop = comma ? comma : end;
		char tag[LANGUAGE_MAX + 1];

		while (at < stop && *at == ' ')
			at++;
		if (copy_subtag(at, stop, tag) && weight_of(at, stop) > best) {
			best = weight_of(at, stop);
			memcpy(ret_language, tag, sizeof(tag));
		}
		at = comma ? comma + 1 : NULL;
	}
}
