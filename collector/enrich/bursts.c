#include "collector/enrich/bursts.h"

#include <stdlib.h>
#include <string.h>

enum {
	WAYS = 4,      /* visitors that share a place in the table */
	CODE_BITS = 24 /* of a request; the rest is its time */
};

#define TIME_MASK ((UINT64_C(1) << (64 - CODE_BITS)) - 1)

/*
 * A request: its time in ms, cut to 40 bits (34 years), and some bits of its
 * code.  0: none.
 */
typedef uint64_t request_t;

/* Most visitors ask once.  They take this much, in a table of its own, so that
 * they do not push out those that ask often. */
struct once {
	uint64_t visitor;
	request_t request;
	bool not_found;
};

/* Those of a set lie in one line of the processor's cache. */
struct key {
	uint64_t visitor;
	int64_t seen_ms; /* greatest time of its requests */
};

struct visitor {
	/* The window in which it was found to be in a burst. */
	int64_t from_ms, to_ms;
	enum burst burst;
	/* The newest ones: limits.codes of different codes, then
	 * limits.not_found of codes that are not there. */
	request_t requests[];
};

struct bursts {
	struct bursts_limits limits;
	struct once *once;
	size_t once_count;
	struct key *keys;
	char *visitors; /* each of visitor_size, in the order of the keys */
	size_t visitor_size;
	size_t set_count;
};

struct bursts *bursts_new(const struct bursts_limits *limits, size_t bytes_max,
			  struct error *err)
{
	struct bursts *b = calloc(1, sizeof(*b));
	size_t requests = (size_t)(limits->codes + limits->not_found);

	if (!b) {
		error_set_nomem(err);
		return NULL;
	}
	b->limits = *limits;
	b->visitor_size = sizeof(struct visitor) + requests * sizeof(request_t);
	b->once_count = bytes_max / 4 / sizeof(*b->once) + 1;
	b->set_count = bytes_max / 4 * 3 /
			       (WAYS * (sizeof(*b->keys) + b->visitor_size)) +
		       1;
	b->once = calloc(b->once_count, sizeof(*b->once));
	b->keys = calloc(b->set_count, WAYS * sizeof(*b->keys));
	b->visitors = calloc(b->set_count, WAYS * b->visitor_size);
	if (b->once && b->keys && b->visitors)
		return b;
	error_set_nomem(err);
	bursts_free(b);
	return NULL;
}

void bursts_free(struct bursts *b)
{
	if (!b)
		return;
	free(b->once);
	free(b->keys);
	free(b->visitors);
	free(b);
}

/* FNV-1a. */
static uint32_t hash_code(const char *code)
{
	uint32_t h = 2166136261U;

	for (; *code; code++)
		h = (h ^ (unsigned char)*code) * 16777619U;
	return h ^ h >> CODE_BITS;
}

static request_t request_of(int64_t ts, const char *code)
{
	request_t r = ((uint64_t)ts & TIME_MASK) << CODE_BITS |
		      (hash_code(code) & ((1U << CODE_BITS) - 1));

	return r ? r : 1;
}

static bool same_code(request_t a, request_t b)
{
	return !((a ^ b) & ((1U << CODE_BITS) - 1));
}

/* Was `old` at most a window before `r`, or at the same time? */
static bool in_window(const struct bursts *b, request_t old, request_t r)
{
	uint64_t age = ((r >> CODE_BITS) - (old >> CODE_BITS)) & TIME_MASK;

	return old && age <= (uint64_t)b->limits.window;
}

/* Puts it in place of the oldest one. */
static void replace_oldest(request_t *list, size_t count, request_t r)
{
	size_t oldest = 0;

	for (size_t i = 1; i < count; i++)
		if (list[i] < list[oldest])
			oldest = i;
	if (list[oldest] < r)
		list[oldest] = r;
}

/* Returns how many different codes the window that ends with `r` has. */
static int64_t note_code(const struct bursts *b, request_t *list, request_t r)
{
	size_t count = (size_t)b->limits.codes;
	bool known = false;
	int64_t n = 1;

	for (size_t i = 0; i < count; i++) {
		if (list[i] && same_code(list[i], r)) {
			known = true;
			if (list[i] < r)
				list[i] = r;
		} else {
			n += in_window(b, list[i], r);
		}
	}
	if (!known)
		replace_oldest(list, count, r);
	return n;
}

/* The same for requests of codes that are not there. */
static int64_t note_not_found(const struct bursts *b, request_t *list,
			      request_t r)
{
	size_t count = (size_t)b->limits.not_found;
	bool known = false;
	int64_t n = 1;

	for (size_t i = 0; i < count; i++) {
		if (list[i] == r)
			known = true;
		else
			n += in_window(b, list[i], r);
	}
	if (!known)
		replace_oldest(list, count, r);
	return n;
}

/* --- who it is --------------------------------------------------------- */

/* A place among `count`, evenly. */
static size_t place_of(uint64_t id, size_t count)
{
	return (size_t)((id >> 32) * (uint64_t)count >> 32);
}

static struct key *set_of(const struct bursts *b, uint64_t id)
{
	return &b->keys[place_of(id, b->set_count) * WAYS];
}

static struct visitor *visitor_of(const struct bursts *b, const struct key *key)
{
	size_t at = (size_t)(key - b->keys) * b->visitor_size;

	return (struct visitor *)(void *)(b->visitors + at);
}

static struct key *find(const struct bursts *b, uint64_t id)
{
	struct key *set = set_of(b, id);

	for (size_t i = 0; i < WAYS; i++)
		if (set[i].visitor == id)
			return &set[i];
	return NULL;
}

/* In place of who has been quiet for longest. */
static struct key *add(const struct bursts *b, uint64_t id)
{
	struct key *key = set_of(b, id);

	for (size_t i = 1; i < WAYS; i++)
		if (set_of(b, id)[i].seen_ms < key->seen_ms)
			key = &set_of(b, id)[i];
	memset(visitor_of(b, key), 0, b->visitor_size);
	*key = (struct key){.visitor = id};
	return key;
}

/* NULL at a visitor's first request, and while it asks for one code only. */
static struct key *promote(struct bursts *b, uint64_t id, request_t r,
			   bool not_found)
{
	struct once *o = &b->once[place_of(id, b->once_count)];
	struct visitor *v;
	struct key *key;

	if (o->visitor != id || !in_window(b, o->request, r) ||
	    (same_code(o->request, r) && !not_found)) {
		*o = (struct once){id, r, not_found};
		return NULL;
	}
	key = add(b, id);
	v = visitor_of(b, key);
	if (b->limits.codes)
		note_code(b, v->requests, o->request);
	if (b->limits.not_found && o->not_found)
		note_not_found(b, v->requests + b->limits.codes, o->request);
	*o = (struct once){0};
	return key;
}

/* Windows that touch are one burst; of others the latest is remembered. */
static void remember(const struct bursts *b, struct visitor *v, int64_t ts,
		     enum burst burst)
{
	int64_t from = ts - b->limits.window;

	if (!v->burst || from > v->to_ms) {
		v->from_ms = from;
		v->to_ms = ts;
	} else if (ts >= v->from_ms) {
		v->from_ms = from < v->from_ms ? from : v->from_ms;
		v->to_ms = ts > v->to_ms ? ts : v->to_ms;
	}
	v->burst = burst;
}

static enum burst judge(const struct bursts *b, struct visitor *v, int64_t ts,
			request_t r, bool not_found)
{
	enum burst burst = BURST_NONE;

	if (b->limits.codes && note_code(b, v->requests, r) >= b->limits.codes)
		burst = BURST_CODES;
	if (b->limits.not_found && not_found &&
	    note_not_found(b, v->requests + b->limits.codes, r) >=
		    b->limits.not_found)
		burst = BURST_NOT_FOUND;
	if (burst)
		remember(b, v, ts, burst);
	else if (v->burst && ts >= v->from_ms && ts <= v->to_ms)
		burst = v->burst;
	return burst;
}

enum burst bursts_note(struct bursts *b,
		       const unsigned char visitor[BURSTS_VISITOR_LEN],
		       int64_t ts, const char *code, bool not_found)
{
	request_t r = request_of(ts, code);
	struct key *key;
	uint64_t id;

	if (!b->limits.codes && !b->limits.not_found)
		return BURST_NONE;
	memcpy(&id, visitor, sizeof(id));
	key = find(b, id);
	if (!key)
		key = promote(b, id, r, not_found);
	if (!key)
		return BURST_NONE;
	if (ts > key->seen_ms)
		key->seen_ms = ts;
	return judge(b, visitor_of(b, key), ts, r, not_found);
}
