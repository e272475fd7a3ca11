#define PCRE2_CODE_UNIT_WIDTH 8
#include "common/agent/pattern/pattern_set.h"

#include <pcre2.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/agent/pattern/automaton.h"
#include "common/agent/pattern/literals.h"
#include "common/bits.h"

enum {
	GROUPS_MAX = 10, /* $0 to $9 */
	JIT_STACK_MIN = 32 * 1024,
	JIT_STACK_MAX = 1024 * 1024,
	MATCH_LIMIT = 200000, /* steps before a match is abandoned */
	CLAUSE_BITS = 2,
};

/* Words common in user agents, the texts for which sets are made. */
static const char common_words[] =
	"mozilla/5.0 (windows nt 10.0; win64; x64; rv:1 | "
	"mozilla/5.0 (x11; linux x86_64; u; en-us | "
	"mozilla/5.0 (macintosh; intel mac os x 10_15_7) gecko/20100101 | "
	"mozilla/5.0 (iphone; ipad; ipod; cpu iphone os 18_1 like mac os x) "
	"applewebkit/605.1.15 (khtml, like gecko) version/18.0 "
	"mobile/15e148 safari/604.1 firefox/1 edge edg/1 | "
	"mozilla/5.0 (linux; android 10; k build/ wv) applewebkit/537.36 "
	"(khtml, like gecko) chrome/130.0.0.0 mobile safari/537.36";

struct pattern {
	pcre2_code *code;
	char *regex;
	uint8_t clauses; /* a bit for each clause */
	uint32_t groups; /* its number of groups, $0 included */
};

struct pattern_set {
	struct pattern *patterns;
	size_t count;
	size_t cap;
	bool jit;
	bool prefilter;
	struct automaton *automaton;
	uint64_t *always; /* bits: tried whatever the automaton finds */
};

struct pattern_matcher {
	const struct pattern_set *set;
	pcre2_match_data *data;
	pcre2_match_context *context;
	pcre2_jit_stack *stack;
	uint64_t *candidates; /* bits */
	uint8_t *seen;	      /* by pattern: clauses found in this text */
	uint32_t groups;      /* in the expression that matched */
	const char *text;     /* last scanned */
	size_t len;
};

struct pattern_set *pattern_set_new(bool jit, struct error *err)
{
	struct pattern_set *set = calloc(1, sizeof(*set));

	if (set)
		set->jit = jit;
	else
		error_set_nomem(err);
	return set;
}

void pattern_set_free(struct pattern_set *set)
{
	if (!set)
		return;
	for (size_t i = 0; i < set->count; i++) {
		pcre2_code_free(set->patterns[i].code);
		free(set->patterns[i].regex);
	}
	free(set->patterns);
	automaton_free(set->automaton);
	free(set->always);
	free(set);
}

static int make_room_for_pattern(struct pattern_set *set, struct error *err)
{
	size_t cap = set->cap ? set->cap * 2 : 64;
	struct pattern *p;

	if (set->count < set->cap)
		return 0;
	p = realloc(set->patterns, cap * sizeof(*p));
	if (!p)
		return error_set_nomem(err);
	set->patterns = p;
	set->cap = cap;
	return 0;
}

int pattern_set_add(struct pattern_set *set, const char *regex, bool caseless,
		    struct error *err)
{
	uint32_t options = caseless ? PCRE2_CASELESS : 0;
	struct pattern p = {0};
	PCRE2_SIZE at;
	int code;

	if (make_room_for_pattern(set, err) < 0)
		return -1;
	p.code = pcre2_compile((PCRE2_SPTR)regex, PCRE2_ZERO_TERMINATED,
			       options, &code, &at, NULL);
	if (!p.code) {
		PCRE2_UCHAR reason[128];

		pcre2_get_error_message(code, reason, sizeof(reason));
		return error_set(err, ERROR_INPUT,
				 "%.100s: at character %zu: %s", regex, at,
				 (const char *)reason);
	}
	/* If this fails, pcre2_match interprets. */
	if (set->jit)
		(void)pcre2_jit_compile(p.code, PCRE2_JIT_COMPLETE);
	(void)pcre2_pattern_info(p.code, PCRE2_INFO_CAPTURECOUNT, &p.groups);
	p.groups++;
	p.regex = strdup(regex);
	if (!p.regex) {
		pcre2_code_free(p.code);
		return error_set_nomem(err);
	}
	set->patterns[set->count++] = p;
	return 0;
}

/* The automaton's words; a value is a pattern and one of its clauses. */
struct words {
	struct automaton_word *items;
	size_t count;
	size_t cap;
};

static bool words_push(struct words *w, struct literal text, uint32_t value)
{
	if (w->count == w->cap) {
		size_t cap = w->cap ? w->cap * 2 : 1024;
		struct automaton_word *items =
			realloc(w->items, cap * sizeof(*items));

		if (!items)
			return false;
		w->items = items;
		w->cap = cap;
	}
	w->items[w->count++] =
		(struct automaton_word){text.text, text.len, value};
	return true;
}

static bool push_clauses(struct words *w, struct pattern *p, uint32_t index,
			 const struct literals *l)
{
	for (uint32_t c = 0; c < l->count; c++) {
		const struct literal_clause *clause = &l->clauses[c];
		uint32_t value = index << CLAUSE_BITS | c;

		p->clauses |= (uint8_t)(1U << c);
		for (size_t i = 0; i < clause->count; i++)
			if (!words_push(w, clause->items[i], value))
				return false;
	}
	return true;
}

static int build_prefilter(struct pattern_set *set, struct error *err)
{
	struct arena arena = {0};
	struct words words = {0};
	bool ok = true;

	for (uint32_t i = 0; ok && i < set->count; i++) {
		struct pattern *p = &set->patterns[i];
		struct literals l =
			literals_required(p->regex, common_words, &arena);

		if (!l.count)
			bits_add(set->always, i);
		ok = push_clauses(&words, p, i, &l);
	}
	if (ok && !arena.failed)
		set->automaton = automaton_new(words.items, words.count, err);
	else
		error_set_nomem(err);
	free(words.items);
	arena_free(&arena);
	return set->automaton ? 0 : -1;
}

int pattern_set_compile(struct pattern_set *set, bool prefilter,
			struct error *err)
{
	set->prefilter = prefilter;
	set->always = bits_new(set->count);
	if (!set->always)
		return error_set_nomem(err);
	if (prefilter)
		return build_prefilter(set, err);
	for (size_t i = 0; i < set->count; i++)
		bits_add(set->always, i);
	return 0;
}

size_t pattern_set_count(const struct pattern_set *set)
{
	return set->count;
}

const char *pattern_set_regex(const struct pattern_set *set, size_t index)
{
	return set->patterns[index].regex;
}

struct pattern_matcher *pattern_matcher_new(const struct pattern_set *set,
					    struct error *err)
{
	struct pattern_matcher *m = calloc(1, sizeof(*m));

	if (!m) {
		error_set_nomem(err);
		return NULL;
	}
	m->set = set;
	m->data = pcre2_match_data_create(GROUPS_MAX, NULL);
	m->context = pcre2_match_context_create(NULL);
	if (set->jit)
		m->stack = pcre2_jit_stack_create(JIT_STACK_MIN, JIT_STACK_MAX,
						  NULL);
	m->candidates = bits_new(set->count);
	m->seen = calloc(set->count + 1, 1);
	if (!m->data || !m->context || !m->candidates || !m->seen) {
		error_set_nomem(err);
		pattern_matcher_free(m);
		return NULL;
	}
	pcre2_set_match_limit(m->context, MATCH_LIMIT);
	if (m->stack)
		pcre2_jit_stack_assign(m->context, NULL, m->stack);
	return m;
}

void pattern_matcher_free(struct pattern_matcher *m)
{
	if (!m)
		return;
	pcre2_match_data_free(m->data);
	pcre2_match_context_free(m->context);
	pcre2_jit_stack_free(m->stack);
	free(m->candidates);
	free(m->seen);
	free(m);
}

static void on_found(void *arg, const uint32_t *values, size_t count)
{
	struct pattern_matcher *m = arg;

	for (size_t i = 0; i < count; i++) {
		uint32_t index = values[i] >> CLAUSE_BITS;
		uint32_t clause = values[i] & ((1U << CLAUSE_BITS) - 1);

		m->seen[index] |= (uint8_t)(1U << clause);
		if (m->seen[index] == m->set->patterns[index].clauses)
			bits_add(m->candidates, index);
	}
}

void pattern_scan(struct pattern_matcher *m, const char *text, size_t len)
{
	const struct pattern_set *set = m->set;

	m->text = text;
	m->len = len;
	memcpy(m->candidates, set->always,
	       bits_words(set->count) * sizeof(uint64_t));
	if (!set->automaton)
		return;
	memset(m->seen, 0, set->count);
	automaton_scan(set->automaton, text, len, on_found, m);
}

static bool text_matches_pattern(struct pattern_matcher *m, size_t index)
{
	const struct pattern *p = &m->set->patterns[index];

	if (pcre2_match(p->code, (PCRE2_SPTR)m->text, m->len, 0, 0, m->data,
			m->context) < 0)
		return false;
	m->groups = p->groups;
	return true;
}

int pattern_first(struct pattern_matcher *m, size_t from, size_t to)
{
	for (size_t i = bits_next(m->candidates, from, to); i < to;
	     i = bits_next(m->candidates, i + 1, to))
		if (text_matches_pattern(m, i))
			return (int)i;
	return -1;
}

struct pattern_group pattern_group(const struct pattern_matcher *m, size_t n)
{
	PCRE2_SIZE *at = pcre2_get_ovector_pointer(m->data);

	if (n >= GROUPS_MAX || n >= m->groups || at[2 * n] == PCRE2_UNSET ||
	    at[2 * n] > at[2 * n + 1])
		return (struct pattern_group){0};
	return (struct pattern_group){m->text + at[2 * n],
				      at[2 * n + 1] - at[2 * n]};
}
