#include "linkstore/marker.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"

struct cursor {
	const char *at, *end;
};

/* Returns the next field, up to a space or the end; false if it is empty. */
static bool next_field(struct cursor *c, const char **ret, size_t *ret_len)
{
	const char *space = memchr(c->at, ' ', (size_t)(c->end - c->at));
	const char *stop = space ? space : c->end;

	*ret = c->at;
	*ret_len = (size_t)(stop - c->at);
	c->at = space ? space + 1 : c->end;
	return *ret_len > 0;
}

static bool next_number(struct cursor *c, int64_t *ret)
{
	const char *text;
	int64_t value = 0;
	size_t len;

	if (!next_field(c, &text, &len) || len > 18)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		value = value * 10 + (text[i] - '0');
	}
	*ret = value;
	return true;
}

static bool next_time(struct cursor *c, int64_t *ret)
{
	static const char never[] = "never ";

	if ((size_t)(c->end - c->at) < sizeof(never) - 1 ||
	    memcmp(c->at, never, sizeof(never) - 1) != 0)
		return next_number(c, ret);
	c->at += sizeof(never) - 1;
	*ret = DURATION_NEVER;
	return true;
}

static bool next_text(struct cursor *c, char *to, size_t size)
{
	const char *text;
	size_t len;

	if (!next_field(c, &text, &len) || len >= size || memchr(text, 0, len))
		return false;
	memcpy(to, text, len);
	to[len] = '\0';
	return true;
}

/* Parses "o", "c", or "o2": open, with two blocked links. */
static bool next_state(struct cursor *c, struct link_marker *ret)
{
	struct cursor number;
	const char *text;
	int64_t blocked = 0;
	size_t len;

	if (!next_field(c, &text, &len) || (text[0] != 'o' && text[0] != 'c'))
		return false;
	number = (struct cursor){text + 1, text + len};
	if (len > 1 && (text[0] != 'o' || len > 10 ||
			!next_number(&number, &blocked) || !blocked))
		return false;
	ret->open = text[0] == 'o';
	ret->blocked = (uint32_t)blocked;
	return true;
}

bool marker_parse(const char *text, size_t len, struct link_marker *ret_marker)
{
	struct cursor c = {text, text + len};
	struct link_marker m;
	int64_t generation;

	if (!next_number(&c, &generation) || generation > UINT32_MAX ||
	    !next_state(&c, &m) ||
	    !next_text(&c, m.class_name, sizeof(m.class_name)) ||
	    !next_number(&c, &m.opened) || !next_time(&c, &m.end) ||
	    !next_text(&c, m.holder, sizeof(m.holder)) || c.at != c.end)
		return false;
	m.generation = (uint32_t)generation;
	*ret_marker = m;
	return true;
}
