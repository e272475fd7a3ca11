#include "collector/pattern/literal_set.h"

#include <ctype.h>
#include <string.h>

enum {
	PRODUCT_MAX = 48, /* strings that a concatenation may multiply to */
	UNION_MAX = 2048, /* strings that an alternation may add up to */
	LENGTH_MAX = 32,
	LENGTH_MIN = 2, /* shorter ones are found in almost any text */
};

struct piece piece_unknown(void)
{
	return (struct piece){0};
}

static struct piece exactly(const char *text, size_t len, struct arena *arena)
{
	struct piece p = {.exact = true};
	char *copy = arena_alloc(arena, len + 1);

	p.set.items = arena_alloc(arena, sizeof(*p.set.items));
	if (!copy || !p.set.items)
		return piece_unknown();
	memcpy(copy, text, len);
	p.set.items[0] = (struct literal){copy, len};
	p.set.count = 1;
	return p;
}

struct piece piece_empty(struct arena *arena)
{
	return exactly("", 0, arena);
}

struct piece piece_byte(unsigned char byte, struct arena *arena)
{
	char c = (char)(byte < 0x80 ? tolower(byte) : byte);

	return exactly(&c, 1, arena);
}

static size_t shortest(const struct literal_clause *c)
{
	size_t min = c->count ? c->items[0].len : 0;

	for (size_t i = 1; i < c->count; i++)
		if (c->items[i].len < min)
			min = c->items[i].len;
	return min;
}

/* Long strings filter better than short ones, few better than many. */
static bool is_better(const struct literal_clause *a,
		      const struct literal_clause *b)
{
	size_t short_a = shortest(a), short_b = shortest(b);

	if (short_a != short_b)
		return short_a > short_b;
	return a->count < b->count;
}

/* Keeps the best clauses, best first. */
static void require(struct literals *l, struct literal_clause c)
{
	size_t at = l->count;

	if (!c.count || shortest(&c) < LENGTH_MIN)
		return;
	while (at > 0 && is_better(&c, &l->clauses[at - 1]))
		at--;
	if (at == LITERALS_CLAUSES_MAX)
		return;
	if (l->count < LITERALS_CLAUSES_MAX)
		l->count++;
	memmove(&l->clauses[at + 1], &l->clauses[at],
		(l->count - 1 - at) * sizeof(c));
	l->clauses[at] = c;
}

static void require_all(struct literals *l, const struct literals *more)
{
	for (size_t i = 0; i < more->count; i++)
		require(l, more->clauses[i]);
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
		 struct arena *arena)
{
	char *text = arena_alloc(arena, a.len + b.len + 1);

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
		     struct arena *arena)
{
	struct literal_clause c = {0};

	if (a->count * b->count > PRODUCT_MAX ||
	    longest(a) + longest(b) > LENGTH_MAX)
		return false;
	c.items = arena_alloc(arena, a->count * b->count * sizeof(*c.items));
	if (!c.items)
		return false;
	for (size_t i = 0; i < a->count; i++)
		for (size_t j = 0; j < b->count; j++) {
			struct literal x;

			if (!join(a->items[i], b->items[j], &x, arena))
				return false;
			if (!has(&c, x))
				c.items[c.count++] = x;
		}
	*ret = c;
	return true;
}

static bool unite(const struct literal_clause *a,
		  const struct literal_clause *b, struct literal_clause *ret,
		  struct arena *arena)
{
	struct literal_clause c = {0};

	if (a->count + b->count > UNION_MAX)
		return false;
	c.items = arena_alloc(arena, (a->count + b->count) * sizeof(*c.items));
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

struct piece piece_concat(struct piece a, struct piece b, struct arena *arena)
{
	struct piece p = {.exact = a.exact && b.exact};

	p.required = a.required;
	require_all(&p.required, &b.required);
	if (a.set.count && b.exact && multiply(&a.set, &b.set, &p.set, arena))
		return p;
	require(&p.required, a.set);
	p.set = b.set;
	p.exact = false;
	return p;
}

struct literals piece_required(const struct piece *p)
{
	struct literals l = p->required;

	require(&l, p->set);
	return l;
}

struct piece piece_either(struct piece a, struct piece b, struct arena *arena)
{
	struct piece p = {.exact = a.exact && b.exact};
	struct literals left, right;
	struct literal_clause both;

	if (p.exact && unite(&a.set, &b.set, &p.set, arena))
		return p;
	left = piece_required(&a);
	right = piece_required(&b);
	p = piece_unknown();
	if (left.count && right.count &&
	    unite(&left.clauses[0], &right.clauses[0], &both, arena))
		require(&p.required, both);
	return p;
}

struct piece piece_repeat(struct piece a, unsigned min, bool more,
			  struct arena *arena)
{
	struct piece p = piece_unknown();

	if (min == 0 && !more && a.exact)
		return piece_either(a, piece_empty(arena), arena);
	if (min == 1 && !more)
		return a;
	if (min > 0)
		p.required = piece_required(&a);
	return p;
}
