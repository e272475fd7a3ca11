#include "aggregator/migrate/statement.h"

#include <ctype.h>
#include <string.h>

static const char *after_comment(const char *p)
{
	const char *newline = strchr(p, '\n');

	return newline ? newline + 1 : p + strlen(p);
}

/* p is at the opening quote; a backslash escapes the next character. */
static const char *after_quoted(const char *p)
{
	char quote = *p++;

	for (; *p && *p != quote; p++) {
		if (*p == '\\' && p[1])
			p++;
	}
	return *p ? p + 1 : p;
}

static bool is_comment(const char *p)
{
	return p[0] == '-' && p[1] == '-';
}

static const char *skip_blanks(const char *p)
{
	for (;;) {
		if (isspace((unsigned char)*p))
			p++;
		else if (is_comment(p))
			p = after_comment(p);
		else
			return p;
	}
}

bool statement_next(const char **sql, struct buf *out)
{
	const char *start = skip_blanks(*sql);
	const char *p = start;

	while (*p && *p != ';') {
		if (is_comment(p))
			p = after_comment(p);
		else if (strchr("'\"`", *p))
			p = after_quoted(p);
		else
			p++;
	}
	*sql = *p ? p + 1 : p;
	while (p > start && isspace((unsigned char)p[-1]))
		p--;
	buf_append(out, start, (size_t)(p - start));
	return p > start;
}
