#include "common/agent/pattern/literal_set.h"

#include <ctype.h>
#include <string.h>

enum {
	PRODUCT_MAX = 48, /* maximum strings of a product of sets */
	UNION_MAX = 2048, /* maximum strings of a union of sets */
	LENGTH_MAX = 32,
	SPELL_MAX = 3,	/* repetitions that are written out */
	LENGTH_MIN = 2, /* shorter ones occur in almost any text */
};

struct piece piece_unknown(void)
{
	return (struct piece){0};
}

static struct piece make_exact_piece(const char *text, size_t len,
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

struct piece piece_empty(const struct literal_context *ctx)
{
	return make_exact_piece("", 0, ctx);
}

struct piece piece_byte(unsigned char byte, const struct literal_context *ctx)
{
	char c = (char)(byte < 0x80 ? tolower(byte) : byte);

	return make_exact_piece(&c, 1, ctx);
}

static size_t shortest_literal_length(const struct literal_clause *c)
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
	size_t short_a = shortest_literal_length(a),
	       short_b = shortest_literal_length(b);
	bool common_a = is_common(a, ctx), common_b = is_common(b, ctx);

	if (common_a != common_b)
		return common_b;
	if (short_a != short_b)
		return short_a > short_b;
	return a->count < b->count;
}

/* Keeps the best clauses, best first. */
static void require_clause(struct literals *l, struct literal_clause c,
			   const struct literal_context *ctx)
{
	size_t at = l->count;

	if (!c.count || shortest_literal_length(&c) < LENGTH_MIN)
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

void literals_drop_common(struct literals *l, const struct literal_context *ctx)
{
	while (l->count > 1 && is_common(&l->clauses[l->count - 1], ctx))
		l->count--;
}

static void require_all(struct literals *l, const struct literals *more,
			const struct literal_context *ctx)
{
	for (size_t i = 0; i < more->count; i++)
		require_clause(l, more->clauses[i], ctx);
}

static bool has_literal(const struct literal_clause *c, struct literal x)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->items[i].len == x.len &&
		    !memcmp(c->items[i].text, x.text, x.len))
			return true;
	return false;
}

static bool join_literals(struct literal a, struct literal b,
			  struct literal *ret,
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

static size_t longest_literal_length(const struct literal_clause *c)
{
	size_t max = 0;

	for (size_t i = 0; i < c->count; i++)
		if (c->items[i].len > max)
			max = c->items[i].len;
	return max;
}

/* Every string of `a` followed by every string of `b`. */
static bool multiply_clauses(const struct literal_clause *a,
			     const struct literal_clause *b,
			     struct literal_clause *ret,
			     const struct literal_context *ctx)
{
	struct literal_clause c = {0};

	if (a->count * b->count > PRODUCT_MAX ||
	    longest_literal_length(a) + longest_literal_length(b) > LENGTH_MAX)
		return false;
	c.items =
		arena_alloc(ctx->arena, a->count * b->count * sizeof(*c.items));
	if (!c.items)
		return false;
	for (size_t i = 0; i < a->count; i++)
		for (size_t j = 0; j < b->count; j++) {
			struct literal x;

			if (!join_literals(a->items[i], b->items[j], &x, ctx))
				return false;
			if (!has_literal(&c, x))
				c.items[c.count++] = x;
		}
	*ret = c;
	return true;
}

static bool unite_clauses(const struct literal_clause *a,
			  const struct literal_clause *b,
			  struct literal_clause *ret,
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
		if (!has_literal(a, b->items[i]))
			c.items[c.count++] = b->items[i];
	*ret = c;
	return true;
}

struct piece piece_concat(struct piece a, struct piece b,
			  const struct literal_context *ctx)
{
	struct piece p = {.exact = a.exact && b.exact};

	p.required = a.required;
	require_all(&p.required, &b.required, ctx);
	if (a.set.count && b.exact &&
	    multiply_clauses(&a.set, &b.set, &p.set, ctx))
		return p;
	require_clause(&p.required, a.set, ctx);
	p.set = b.set;
	p.exact = false;
	return p;
}

struct literals piece_required(const struct piece *p,
			       const struct literal_context *ctx)
{
	struct literals l = p->required;

	require_clause(&l, p->set, ctx);
	return l;
}

struct piece piece_either(struct piece a, struct piece b,
			  const struct literal_context *ctx)
{
	struct piece p = {.exact = a.exact && b.exact};
	struct literals left, right;
	struct literal_clause both;

	if (p.exact && unite_clauses(&a.set, &b.set, &p.set, ctx))
		return p;
	left = piece_required(&a, ctx);
	right = piece_required(&b, ctx);
	p = piece_unknown();
	if (left.count && right.count &&
	    unite_clauses(&left.clauses[0], &right.clauses[0], &both, ctx))
		require_clause(&p.required, both, ctx);
	return p;
}

/* Writes out every string of `a` from `min` to `max` times. */
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

struct piece piece_repeat(struct piece a, unsigned min, unsigned max,
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
