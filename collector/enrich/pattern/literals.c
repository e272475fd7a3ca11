#include "collector/enrich/pattern/literals.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* --- algebra over sets of strings ----------------------------------------- */

/*
 * What a piece of an expression is known to match.  When `exact`, it matches
 * the strings of `set` and no others (case aside).  Otherwise a match ends in
 * one of `set`, if that has any, so that "a.*bcd" learns "bcd" whole rather
 * than byte by byte.
 */
struct piece {
	bool exact;
	struct literal_clause set;
	struct literals required;
};

/* The arena that strings live in, and the text whose words say little. */
struct literal_context {
	struct arena *arena;
	const char *common;
};

enum {
	PRODUCT_MAX = 48, /* strings that a concatenation may multiply to */
	UNION_MAX = 2048, /* strings that an alternation may add up to */
	LENGTH_MAX = 32,
	SPELL_MAX = 3,	/* repetitions that are written out */
	LENGTH_MIN = 2, /* shorter ones are found in almost any text */
};

/* Matches something unknown. */
static struct piece piece_unknown(void)
{
	return (struct piece){0};
}

static struct piece exactly(const char *text, size_t len,
			    const struct literal_context *ctx)
{
	struct piece p = {.exact = true};
	char *copy = arena_alloc(ctx->arena, len + 1);

	p.set.items = arena_alloc(ctx->arena, sizeof(*p.set.items));
	if (!copy || !p.set.items)
		return piece_unknown();
	memcpy(copy, text, len);
	p.set.items[0] = (struct literal){copy, len};
	p.set.count = 1;
	return p;
}

/* Matches the empty string, or asserts something without consuming. */
static struct piece piece_empty(const struct literal_context *ctx)
{
	return exactly("", 0, ctx);
}

/* Matches this one byte, or its other case. */
static struct piece piece_byte(unsigned char byte,
			       const struct literal_context *ctx)
{
	char c = (char)(byte < 0x80 ? tolower(byte) : byte);

	return exactly(&c, 1, ctx);
}

static size_t shortest(const struct literal_clause *c)
{
	size_t min = c->count ? c->items[0].len : 0;

	for (size_t i = 1; i < c->count; i++)
		if (c->items[i].len < min)
			min = c->items[i].len;
	return min;
}

static bool is_common(const struct literal_clause *c,
		      const struct literal_context *ctx)
{
	for (size_t i = 0; i < c->count; i++)
		if (memmem(ctx->common, strlen(ctx->common), c->items[i].text,
			   c->items[i].len))
			return true;
	return false;
}

/* Rare strings filter better than common ones, long better than short, few
 * better than many. */
static bool is_better(const struct literal_clause *a,
		      const struct literal_clause *b,
		      const struct literal_context *ctx)
{
	size_t short_a = shortest(a), short_b = shortest(b);
	bool common_a = is_common(a, ctx), common_b = is_common(b, ctx);

	if (common_a != common_b)
		return common_b;
	if (short_a != short_b)
		return short_a > short_b;
	return a->count < b->count;
}

/* Keeps the best clauses, best first. */
static void require(struct literals *l, struct literal_clause c,
		    const struct literal_context *ctx)
{
	size_t at = l->count;

	if (!c.count || shortest(&c) < LENGTH_MIN)
		return;
	while (at > 0 && is_better(&c, &l->clauses[at - 1], ctx))
		at--;
	if (at == LITERALS_CLAUSES_MAX)
		return;
	if (l->count < LITERALS_CLAUSES_MAX)
		l->count++;
	memmove(&l->clauses[at + 1], &l->clauses[at],
		(l->count - 1 - at) * sizeof(c));
	l->clauses[at] = c;
}

/* Leaves out clauses of common words where there are others: nearly every text
 * has them, so looking for them costs more than it tells. */
static void literals_drop_common(struct literals *l,
				 const struct literal_context *ctx)
{
	while (l->count > 1 && is_common(&l->clauses[l->count - 1], ctx))
		l->count--;
}

static void require_all(struct literals *l, const struct literals *more,
			const struct literal_context *ctx)
{
	for (size_t i = 0; i < more->count; i++)
		require(l, more->clauses[i], ctx);
}

static bool has(const struct literal_clause *c, struct literal x)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->items[i].len == x.len &&
		    !memcmp(c->items[i].text, x.text, x.len))
			return true;
	return false;
}

static bool join(struct literal a, struct literal b, struct literal *ret,
		 const struct literal_context *ctx)
{
	char *text = arena_alloc(ctx->arena, a.len + b.len + 1);

	if (!text)
		return false;
	memcpy(text, a.text, a.len);
	memcpy(text + a.len, b.text, b.len);
	*ret = (struct literal){text, a.len + b.len};
	return true;
}

static size_t longest(const struct literal_clause *c)
{
	size_t max = 0;

	for (size_t i = 0; i < c->count; i++)
		if (c->items[i].len > max)
			max = c->items[i].len;
	return max;
}

/* Every string of `a` followed by every string of `b`. */
static bool multiply(const struct literal_clause *a,
		     const struct literal_clause *b, struct literal_clause *ret,
		     const struct literal_context *ctx)
{
	struct literal_clause c = {0};

	if (a->count * b->count > PRODUCT_MAX ||
	    longest(a) + longest(b) > LENGTH_MAX)
		return false;
	c.items =
		arena_alloc(ctx->arena, a->count * b->count * sizeof(*c.items));
	if (!c.items)
		return false;
	for (size_t i = 0; i < a->count; i++)
		for (size_t j = 0; j < b->count; j++) {
			struct literal x;

			if (!join(a->items[i], b->items[j], &x, ctx))
				return false;
			if (!has(&c, x))
				c.items[c.count++] = x;
		}
	*ret = c;
	return true;
}

static bool unite(const struct literal_clause *a,
		  const struct literal_clause *b, struct literal_clause *ret,
		  const struct literal_context *ctx)
{
	struct literal_clause c = {0};

	if (a->count + b->count > UNION_MAX)
		return false;
	c.items = arena_alloc(ctx->arena,
			      (a->count + b->count) * sizeof(*c.items));
	if (!c.items)
		return false;
	memcpy(c.items, a->items, a->count * sizeof(*c.items));
	c.count = a->count;
	for (size_t i = 0; i < b->count; i++)
		if (!has(a, b->items[i]))
			c.items[c.count++] = b->items[i];
	*ret = c;
	return true;
}

/* One after the other. */
static struct piece piece_concat(struct piece a, struct piece b,
				 const struct literal_context *ctx)
{
	struct piece p = {.exact = a.exact && b.exact};

	p.required = a.required;
	require_all(&p.required, &b.required, ctx);
	if (a.set.count && b.exact && multiply(&a.set, &b.set, &p.set, ctx))
		return p;
	require(&p.required, a.set, ctx);
	p.set = b.set;
	p.exact = false;
	return p;
}

/* What it all comes to: the set counts as a clause too. */
static struct literals piece_required(const struct piece *p,
				      const struct literal_context *ctx)
{
	struct literals l = p->required;

	require(&l, p->set, ctx);
	return l;
}

/* One or the other. */
static struct piece piece_either(struct piece a, struct piece b,
				 const struct literal_context *ctx)
{
	struct piece p = {.exact = a.exact && b.exact};
	struct literals left, right;
	struct literal_clause both;

	if (p.exact && unite(&a.set, &b.set, &p.set, ctx))
		return p;
	left = piece_required(&a, ctx);
	right = piece_required(&b, ctx);
	p = piece_unknown();
	if (left.count && right.count &&
	    unite(&left.clauses[0], &right.clauses[0], &both, ctx))
		require(&p.required, both, ctx);
	return p;
}

/* Every string of `a` from `min` to `max` times, written out. */
static struct piece spell_out(struct piece a, unsigned min, unsigned max,
			      const struct literal_context *ctx)
{
	struct piece all = piece_empty(ctx), power = all;

	for (unsigned n = 1; n <= max; n++) {
		power = piece_concat(power, a, ctx);
		all = n <= min ? power : piece_either(all, power, ctx);
	}
	return all;
}

/* `a` from `min` to `max` times. */
static struct piece piece_repeat(struct piece a, unsigned min, unsigned max,
				 const struct literal_context *ctx)
{
	struct piece p = piece_unknown();

	if (min == 1 && max == 1)
		return a;
	if (a.exact && max <= SPELL_MAX)
		return spell_out(a, min, max, ctx);
	if (min > 0)
		p.required = piece_required(&a, ctx);
	return p;
}

/* --- parsing the expression ------------------------------------------------
 */

enum {
	DEPTH_MAX = 64,
	CLASS_MAX = 10, /* members of a class that are worth telling apart */
};

struct parse {
	const char *at;
	struct literal_context ctx;
	unsigned depth;
	bool lost; /* met something that is not understood */
};

static struct piece parse_alternatives(struct parse *p);

static struct piece lose(struct parse *p)
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

/* What a backslash and a letter or digit stand for. */
static struct piece parse_escape(struct parse *p)
{
	unsigned char c = (unsigned char)*p->at;

	if (!c)
		return lose(p);
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
		return lose(p);
	}
}

/* One member of a class, or -1 for one that stands for many. */
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

/* Adds the bytes of the class to `members`; returns how many, -1 for many. */
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

/* After "(": the group's body and its closing parenthesis. */
static struct piece parse_group(struct parse *p)
{
	bool assertion = false;
	struct piece body;

	if (*p->at == '*')
		return lose(p);
	if (*p->at == '?') {
		p->at++;
		if (*p->at == '<')
			p->at++;
		assertion = *p->at == '=' || *p->at == '!';
		if (!assertion &&
		    (p->at[-1] == '<' || (*p->at != ':' && *p->at != '>')))
			return lose(p);
		p->at++;
	}
	if (++p->depth > DEPTH_MAX)
		return lose(p);
	body = parse_alternatives(p);
	p->depth--;
	if (p->lost || *p->at != ')')
		return lose(p);
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
		/* ULONG_MAX, too, when it is a larger number than that. */
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
