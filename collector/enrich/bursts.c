#include "collector/enrich/bursts.h"

#include <stdlib.h>
#include <string.h>

enum {
	WAYS = 4,      /* visitors in a set of the table */
	CODE_BITS = 24 /* bits of a request's code; the rest is its time */
};

#define TIME_MASK ((UINT64_C(1) << (64 - CODE_BITS)) - 1)

/* A request: its time in ms, cut to 40 bits (34 years), and some bits of its
 * code. */
typedef uint64_t request_t;

/* Most visitors send one request.  They take this much, in a table of their
 * own, so that they do not evict visitors with many requests. */
struct once {
	uint64_t visitor;
	request_t request;
	bool not_found;
};

/* The keys of a set fit into one cache line of the processor. */
struct key {
	uint64_t visitor;
	int64_t seen_ms; /* latest time of its requests */
};

struct burst_visitor {
	/* The time range of the visitor's burst. */
	int64_t from_ms, to_ms;
	enum burst burst;
	/* Numbers of known requests of a window: at most limits.codes of
	 * different codes, then at most limits.not_found of codes that do not
	 * exist. */
	uint32_t code_count, not_found_count;
	request_t requests[];
};

struct bursts {
	struct bursts_limits limits;
	struct once *once;
	size_t once_count;
	struct key *keys;
	char *visitors; /* each visitor_size bytes, in the order of the keys */
	size_t visitor_size;
	size_t set_count;
};

static struct key *new_keys(size_t set_count)
{
	size_t size = set_count * WAYS * sizeof(struct key);
	struct key *keys = aligned_alloc(WAYS * sizeof(struct key), size);

	return keys ? memset(keys, 0, size) : NULL;
}

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
	b->visitor_size =
		sizeof(struct burst_visitor) + requests * sizeof(request_t);
	b->once_count = bytes_max / 4 / sizeof(*b->once) + 1;
	b->set_count = bytes_max / 4 * 3 /
			       (WAYS * (sizeof(*b->keys) + b->visitor_size)) +
		       1;
	b->once = calloc(b->once_count, sizeof(*b->once));
	b->keys = new_keys(b->set_count);
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
	return ((uint64_t)ts & TIME_MASK) << CODE_BITS |
	       (hash_code(code) & ((1U << CODE_BITS) - 1));
}

static bool same_code(request_t a, request_t b)
{
	return !((a ^ b) & ((1U << CODE_BITS) - 1));
}

/* Returns by how much `old` is before `r`; more than any window if it is after
 * `r`. */
static uint64_t age_of(request_t old, request_t r)
{
	return ((r >> CODE_BITS) - (old >> CODE_BITS)) & TIME_MASK;
}

/* The result of counting the requests of a window. */
struct limited_count {
	int64_t others;	  /* apart from the noted one */
	request_t *known; /* the same request, noted before; or NULL */
	request_t *oldest;
};

/*
 * Counts the requests in the window that ends with `r`, apart from `r`, and
 * removes older ones.  `whole`: requests of one code at different times count
 * as different.
 */
static struct limited_count count_window(const struct bursts *b,
					 request_t *list, uint32_t *len,
					 request_t r, bool whole)
{
	uint64_t window = (uint64_t)b->limits.window;
	struct limited_count c = {.oldest = list};
	uint32_t i = 0;

	while (i < *len) {
		uint64_t age = age_of(list[i], r);

		/* For a later request, the age is near the end of the range. */
		if (age > window && age <= TIME_MASK / 2) {
			list[i] = list[--*len];
			continue;
		}
		if (whole ? list[i] == r : same_code(list[i], r))
			c.known = &list[i];
		else
			c.others += age <= window;
		if (list[i] < *c.oldest)
			c.oldest = &list[i];
		i++;
	}
	return c;
}

/* Notes `r`, and returns the number of requests in the window that ends with
 * it. */
static int64_t note_request(const struct bursts *b, request_t *list,
			    uint32_t *len, int64_t limit, request_t r,
			    bool whole)
{
	struct limited_count c = count_window(b, list, len, r, whole);
	request_t *at = c.known;

	if (!at && *len < (uint32_t)limit) {
		list[(*len)++] = r;
		return c.others + 1;
	}
	if (!at)
		at = c.oldest;
	if (*at < r)
		*at = r;
	return c.others + 1;
}

static int64_t note_code(const struct bursts *b, struct burst_visitor *v,
			 request_t r)
{
	return note_request(b, v->requests, &v->code_count, b->limits.codes, r,
			    false);
}

/* Does the same for requests of codes that do not exist. */
static int64_t note_not_found(const struct bursts *b, struct burst_visitor *v,
			      request_t r)
{
	return note_request(b, v->requests + b->limits.codes,
			    &v->not_found_count, b->limits.not_found, r, true);
}

/* --- visitors ------------------------------------------------------------- */

/* Returns an index below `count`, spread evenly. */
static size_t index_of(uint64_t id, size_t count)
{
	return (size_t)((id >> 32) * (uint64_t)count >> 32);
}

static struct key *set_of(const struct bursts *b, uint64_t id)
{
	return &b->keys[index_of(id, b->set_count) * WAYS];
}

static struct burst_visitor *visitor_of(const struct bursts *b,
					const struct key *key)
{
	size_t at = (size_t)(key - b->keys) * b->visitor_size;

	return (struct burst_visitor *)(void *)(b->visitors + at);
}

static struct key *find_visitor_key(const struct bursts *b, uint64_t id)
{
	struct key *set = set_of(b, id);

	for (size_t i = 0; i < WAYS; i++)
		if (set[i].visitor == id)
			return &set[i];
	return NULL;
}

/* Reuses the entry of the visitor that was idle for longest. */
static struct key *add_visitor_key(const struct bursts *b, uint64_t id)
{
	struct key *key = set_of(b, id);

	for (size_t i = 1; i < WAYS; i++)
		if (set_of(b, id)[i].seen_ms < key->seen_ms)
			key = &set_of(b, id)[i];
	memset(visitor_of(b, key), 0, sizeof(struct burst_visitor));
	*key = (struct key){.visitor = id};
	return key;
}

/* Returns NULL for a visitor's first request, and while it requests only one
 * code. */
static struct key *promote_visitor(struct bursts *b, uint64_t id, request_t r,
				   bool not_found)
{
	struct once *o = &b->once[index_of(id, b->once_count)];
	struct burst_visitor *v;
	struct key *key;

	if (o->visitor != id ||
	    age_of(o->request, r) > (uint64_t)b->limits.window ||
	    (same_code(o->request, r) && !not_found)) {
		*o = (struct once){id, r, not_found};
		return NULL;
	}
	key = add_visitor_key(b, id);
	v = visitor_of(b, key);
	if (b->limits.codes)
		note_code(b, v, o->request);
	if (b->limits.not_found && o->not_found)
		note_not_found(b, v, o->request);
	*o = (struct once){0};
	return key;
}

/* Windows that touch are one burst; otherwise only the latest one is kept. */
static void note_burst_window(const struct bursts *b, struct burst_visitor *v,
			      int64_t ts, enum burst burst)
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

static enum burst detect_burst(const struct bursts *b, struct burst_visitor *v,
			       int64_t ts, request_t r, bool not_found)
{
	enum burst burst = BURST_NONE;

	/* Requests within a known burst are not counted: the busiest visitors
	 * are counted at most once per ms. */
	if (v->burst && ts >= v->from_ms && ts <= v->to_ms)
		return v->burst;
	if (b->limits.codes && note_code(b, v, r) >= b->limits.codes)
		burst = BURST_CODES;
	if (b->limits.not_found && not_found &&
	    note_not_found(b, v, r) >= b->limits.not_found)
		burst = BURST_NOT_FOUND;
	if (burst)
		note_burst_window(b, v, ts, burst);
	return burst;
}

void bursts_expect(const struct bursts *b,
		   const unsigned char visitor[BURSTS_VISITOR_LEN])
{
	uint64_t id;

	memcpy(&id, visitor, sizeof(id));
	__builtin_prefetch(set_of(b, id), 1);
	__builtin_prefetch(&b->once[index_of(id, b->once_count)], 1);
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
	key = find_visitor_key(b, id);
	if (!key)
		key = promote_visitor(b, id, r, not_found);
	if (!key)
		return BURST_NONE;
	if (ts > key->seen_ms)
		key->seen_ms = ts;
	return detect_burst(b, visitor_of(b, key), ts, r, not_found);
}
