#include <string.h>

#include "common/json_parser.h"
#include "common/utf8.h"

static bool read_unit(struct json_parser *p, uint32_t *ret_unit)
{
	uint32_t unit = 0;
	char c;

	for (int i = 0; i < 4; i++) {
		c = *p->at;
		if (c >= '0' && c <= '9')
			unit = unit * 16 + (uint32_t)(c - '0');
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			unit = unit * 16 + (uint32_t)((c | 0x20) - 'a') + 10;
		else
			return json_parser_fail(
				p, "\\u without four hexadecimal digits");
		p->at++;
	}
	*ret_unit = unit;
	return true;
}

/* What follows \u. */
static bool read_point(struct json_parser *p, char **to)
{
	uint32_t point, low;

	if (!read_unit(p, &point))
		return false;
	if (point == 0)
		return json_parser_fail(p, "a string has \\u0000");
	if (point >= 0xd800 && point < 0xdc00) {
		if (!json_parser_take(p, '\\') || !json_parser_take(p, 'u'))
			return json_parser_fail(p, "half a surrogate pair");
		if (!read_unit(p, &low))
			return false;
		if (low < 0xdc00 || low > 0xdfff)
			return json_parser_fail(p, "half a surrogate pair");
		point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
	} else if (point >= 0xdc00 && point < 0xe000) {
		return json_parser_fail(p, "half a surrogate pair");
	}
	*to += utf8_put(*to, point);
	return true;
}

/* What follows a backslash; never longer when decoded. */
static bool read_escape(struct json_parser *p, char **to)
{
	static const char names[] = "\"\\/bfnrt";
	static const char values[] = "\"\\/\b\f\n\r\t";
	const char *at;

	if (json_parser_take(p, 'u'))
		return read_point(p, to);
	at = *p->at ? strchr(names, *p->at) : NULL;
	if (!at)
		return json_parser_fail(p, "an escape that JSON does not have");
	*(*to)++ = values[at - names];
	p->at++;
	return true;
}

/* A character that is more than itself. */
static bool read_special(struct json_parser *p, char **to)
{
	size_t n;

	if (json_parser_take(p, '\\'))
		return read_escape(p, to);
	if (p->at == p->end)
		return json_parser_fail(p, "a string has no end");
	if ((unsigned char)*p->at < ' ')
		return json_parser_fail(p, "a string has a control character");
	n = utf8_sequence(p->at, (size_t)(p->end - p->at));
	if (n == 0)
		return json_parser_fail(p, "a string is not UTF-8");
	memmove(*to, p->at, n);
	*to += n;
	p->at += n;
	return true;
}

/* Decodes in place. */
bool json_parser_string(struct json_parser *p, const char **ret,
			size_t *ret_len)
{
	char *begin, *to, *from;

	if (!json_parser_take(p, '"'))
		return json_parser_fail(p, "a name in quotes expected");
	begin = to = p->at;
	while (true) {
		from = p->at;
		/* ASCII; the others are negative, or not with some compilers */
		while ((signed char)*p->at >= ' ' && *p->at != '"' &&
		       *p->at != '\\')
			p->at++;
		if (to != from)
			memmove(to, from, (size_t)(p->at - from));
		to += p->at - from;
		if (json_parser_take(p, '"'))
			break;
		if (!read_special(p, &to))
			return false;
	}
	*to = '\0';
	*ret = begin;
	*ret_len = (size_t)(to - begin);
	return true;
}
