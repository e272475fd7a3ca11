#include "common/agent/pattern/literals.h"

#include <ctype.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/agent/pattern/literal_set.h"

enum {
	DEPTH_MAX = 64,
	CLASS_MAX = 10, /* maximum members of a class that are listed */
};

struct parse {
	const char *at;
	struct literal_context ctx;
	unsigned depth;
	bool lost; /* met syntax that the analysis does not know */
};

static struct piece parse_alternatives(struct parse *p);

static struct piece abandon_analysis(struct parse *p)
{
	p->lost = true;
	return piece_unknown();
}

static struct piece any_of(const char *bytes, int count, struct parse *p)
{
	struct piece any = piece_byte((unsigned char)bytes[0], &p->ctx);

	for (int i = 1; i < count; i++)
		any = piece_either(any,
				   piece_byte((unsigned char)bytes[i], &p->ctx),
				   &p->ctx);
	return any;
}

/* Parses the letter or digit after a backslash. */
static struct piece parse_escape(struct parse *p)
{
	unsigned char c = (unsigned char)*p->at;

	if (!c)
		return abandon_analysis(p);
	p->at++;
	if (!isalnum(c))
		return piece_byte(c, &p->ctx);
	switch (c) {
	case 'd':
		return any_of("0123456789", 10, p);
	case 'D':
	case 'w':
	case 'W':
	case 's':
	case 'S':
		return piece_unknown();
	case 'b':
	case 'B':
	case 'A':
	case 'Z':
	case 'z':
		return piece_empty(&p->ctx);
	case 't':
		return piece_byte('\t', &p->ctx);
	case 'n':
		return piece_byte('\n', &p->ctx);
	case 'r':
		return piece_byte('\r', &p->ctx);
	default:
		return abandon_analysis(p);
	}
}

/* Returns one member of a class, or -1 for one that means many. */
static int class_member(struct parse *p)
{
	unsigned char c = (unsigned char)*p->at;

	if (!c) {
		p->lost = true;
		return -1;
	}
	p->at++;
	if (c == '[' && (*p->at == ':' || *p->at == '.' || *p->at == '='))
		p->lost = true;
	if (c != '\\')
		return c;
	c = (unsigned char)*p->at;
	if (!c) {
		p->lost = true;
		return -1;
	}
	p->at++;
	if (!isalnum(c))
		return c;
	if (!strchr("dDwWsS", c))
		p->lost = true;
	return -1;
}

/* Adds the bytes of the class to `members`; returns their number, -1 for
 * many. */
static int class_members(struct parse *p, unsigned char members[256])
{
	bool many = false;
	int count = 0;

	do {
		int first = class_member(p), last = first;

		if (p->lost || !*p->at)
			break;
		if (*p->at == '-' && p->at[1] != ']') {
			p->at++;
			last = class_member(p);
			many |= last < 0;
		}
		many |= first < 0;
		for (int c = first; !many && c <= last && count < 256; c++)
			members[count++] = (unsigned char)c;
	} while (*p->at && *p->at != ']');
	if (p->lost || *p->at != ']') {
		p->lost = true;
		return -1;
	}
	p->at++;
	return many ? -1 : count;
}

static struct piece parse_class(struct parse *p)
{
	unsigned char members[256];
	bool negated = *p->at == '^';
	int count;

	if (negated)
		p->at++;
	count = class_members(p, members);
	if (p->lost || negated || count < 1 || count > CLASS_MAX)
		return piece_unknown();
	return any_of((const char *)members, count, p);
}

/* Parses a group after its "(", closing parenthesis included. */
static struct piece parse_group(struct parse *p)
{
	bool assertion = false;
	struct piece body;

	if (*p->at == '*')
		return abandon_analysis(p);
	if (*p->at == '?') {
		p->at++;
		if (*p->at == '<')
			p->at++;
		assertion = *p->at == '=' || *p->at == '!';
		if (!assertion &&
		    (p->at[-1] == '<' || (*p->at != ':' && *p->at != '>')))
			return abandon_analysis(p);
		p->at++;
	}
	if (++p->depth > DEPTH_MAX)
		return abandon_analysis(p);
	body = parse_alternatives(p);
	p->depth--;
	if (p->lost || *p->at != ')')
		return abandon_analysis(p);
	p->at++;
	return assertion ? piece_empty(&p->ctx) : body;
}

static struct piece parse_atom(struct parse *p)
{
	unsigned char c = (unsigned char)*p->at++;

	switch (c) {
	case '(':
		return parse_group(p);
	case '[':
		return parse_class(p);
	case '\\':
		return parse_escape(p);
	case '.':
		return piece_unknown();
	case '^':
	case '$':
		return piece_empty(&p->ctx);
	default:
		return piece_byte(c, &p->ctx);
	}
}

/* Reads "{2,5}" after an atom; false: the brace is an ordinary byte. */
static bool parse_braces(struct parse *p, unsigned *min, unsigned *max)
{
	const char *s = p->at + 1;
	char *end;
	unsigned long low, high;

	if (*s == ',') {
		p->lost = true; /* versions of PCRE2 differ on "{,5}" */
		return false;
	}
	if (!isdigit((unsigned char)*s))
		return false;
	low = high = strtoul(s, &end, 10);
	if (*end == ',') {
		s = ++end;
		/* The result is ULONG_MAX, too, for a number larger than
		 * that. */
		high = isdigit((unsigned char)*s) ? strtoul(s, &end, 10)
						  : ULONG_MAX;
	}
	if (*end != '}')
		return false;
	p->at = end + 1;
	*min = low > 1000 ? 1000 : (unsigned)low;
	*max = high > 1000 ? 1000 : (unsigned)high;
	return true;
}

static struct piece parse_repeated(struct parse *p)
{
	struct piece atom = parse_atom(p);
	unsigned min = 1;
	unsigned max = 1;

	if (p->lost)
		return atom;
	if (*p->at == '*' || *p->at == '+' || *p->at == '?') {
		min = *p->at == '+';
		max = *p->at == '?' ? 1 : UINT_MAX;
		p->at++;
	} else if (*p->at != '{' || !parse_braces(p, &min, &max)) {
		return atom;
	}
	if (*p->at == '?' || *p->at == '+')
		p->at++;
	return piece_repeat(atom, min, max, &p->ctx);
}

static struct piece parse_sequence(struct parse *p)
{
	struct piece all = piece_empty(&p->ctx);

	while (!p->lost && *p->at && *p->at != '|' && *p->at != ')')
		all = piece_concat(all, parse_repeated(p), &p->ctx);
	return all;
}

static struct piece parse_alternatives(struct parse *p)
{
	struct piece any = parse_sequence(p);

	while (!p->lost && *p->at == '|') {
		p->at++;
		any = piece_either(any, parse_sequence(p), &p->ctx);
	}
	return any;
}

struct literals literals_required(const char *regex, const char *common,
				  struct arena *arena)
{
	struct parse p = {.at = regex, .ctx = {arena, common}};
	struct piece all = parse_alternatives(&p);
	struct literals required;

	if (p.lost || *p.at || arena->failed)
		return (struct literals){0};
	required = piece_required(&all, &p.ctx);
	literals_drop_common(&required, &p.ctx);
	return required;
}
