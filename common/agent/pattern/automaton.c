#include "common/agent/pattern/automaton.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
 * A step of the finished automaton is one load: an entry of `next` is the index
 * of the next state's row, times two, plus one if a word ends there.  The
 * state's number is its row divided by `classes`.
 */
struct automaton {
	uint8_t class_of[256];
	uint32_t classes;
	uint32_t states;
	uint32_t *next;
	/* By state number: the values of the words that end there are
	 * values[first[s]] up to values[first[s + 1]]. */
	uint32_t *first;
	uint32_t *values;
};

/* Data that is only needed while building, by state number. */
struct build {
	const struct automaton_word *words;
	size_t word_count;
	uint32_t *end_of; /* by word: the state it ends in */
	uint32_t *fail;
	uint32_t *order; /* states, breadth first */
};

static void assign_classes(struct automaton *a, const struct build *b)
{
	bool used[256] = {false};

	for (size_t i = 0; i < b->word_count; i++)
		for (size_t j = 0; j < b->words[i].len; j++)
			used[(unsigned char)b->words[i].text[j]] = true;
	a->classes = 1; /* class 0: bytes that are in no word */
	for (int c = 0; c < 256; c++)
		if (used[c])
			a->class_of[c] = (uint8_t)a->classes++;
	for (int c = 'A'; c <= 'Z'; c++)
		a->class_of[c] = a->class_of[tolower(c)];
}

static uint32_t *child_entry(struct automaton *a, uint32_t state,
			     unsigned char c)
{
	return &a->next[state * a->classes + a->class_of[c]];
}

/* Builds a trie of the words; 0 in `next` means: no child yet. */
static void build_trie(struct automaton *a, struct build *b)
{
	a->states = 1;
	for (size_t i = 0; i < b->word_count; i++) {
		uint32_t s = 0;

		for (size_t j = 0; j < b->words[i].len; j++) {
			uint32_t *to = child_entry(
				a, s, (unsigned char)b->words[i].text[j]);

			if (!*to)
				*to = a->states++;
			s = *to;
		}
		b->end_of[i] = s;
	}
}

/* Works breadth first: a state's failure link is nearer to the root than
 * itself. */
static void link_failures(struct automaton *a, struct build *b)
{
	uint32_t head = 0, tail = 0;

	for (uint32_t c = 0; c < a->classes; c++)
		if (a->next[c])
			b->order[tail++] = a->next[c];
	while (head < tail) {
		uint32_t s = b->order[head++];
		uint32_t *row = a->next + s * a->classes;
		const uint32_t *back = a->next + b->fail[s] * a->classes;

		for (uint32_t c = 0; c < a->classes; c++) {
			if (!row[c]) {
				row[c] = back[c];
				continue;
			}
			b->fail[row[c]] = back[c];
			b->order[tail++] = row[c];
		}
	}
}

/* Counts the words that end in each state, suffixes included, as running
 * sums. */
static size_t count_values(struct automaton *a, const struct build *b)
{
	size_t total = 0;

	for (size_t i = 0; i < b->word_count; i++)
		a->first[b->end_of[i]]++;
	for (uint32_t i = 0; i + 1 < a->states; i++)
		a->first[b->order[i]] += a->first[b->fail[b->order[i]]];
	for (uint32_t s = 0; s < a->states; s++) {
		uint32_t n = a->first[s];

		a->first[s] = (uint32_t)total;
		total += n;
	}
	a->first[a->states] = (uint32_t)total;
	return total;
}

static int fill_values(struct automaton *a, const struct build *b,
		       struct error *err)
{
	size_t total = count_values(a, b);
	uint32_t *fill = calloc(a->states, sizeof(*fill));

	a->values = calloc(total + 1, sizeof(*a->values));
	if (!a->values || !fill) {
		free(fill);
		return error_set_nomem(err);
	}
	for (size_t i = 0; i < b->word_count; i++) {
		uint32_t s = b->end_of[i];

		a->values[a->first[s] + fill[s]++] = b->words[i].value;
	}
	for (uint32_t i = 0; i + 1 < a->states; i++) {
		uint32_t s = b->order[i], f = b->fail[s];

		memcpy(a->values + a->first[s] + fill[s],
		       a->values + a->first[f],
		       (a->first[f + 1] - a->first[f]) * sizeof(uint32_t));
	}
	free(fill);
	return 0;
}

static void finish_table(struct automaton *a)
{
	for (size_t i = 0; i < (size_t)a->states * a->classes; i++) {
		uint32_t s = a->next[i];
		uint32_t ends = a->first[s + 1] > a->first[s];

		a->next[i] = s * a->classes * 2 + ends;
	}
}

static bool allocate_arrays(struct automaton *a, struct build *b,
			    struct error *err)
{
	size_t states = 1;

	for (size_t i = 0; i < b->word_count; i++)
		states += b->words[i].len;
	if (states * a->classes * 2 > UINT32_MAX) {
		error_set(err, ERROR_INPUT, "too many words to look for");
		return false;
	}
	a->next = calloc(states * a->classes, sizeof(*a->next));
	a->first = calloc(states + 1, sizeof(*a->first));
	b->end_of = calloc(b->word_count + 1, sizeof(*b->end_of));
	b->fail = calloc(states, sizeof(*b->fail));
	b->order = calloc(states, sizeof(*b->order));
	if (a->next && a->first && b->end_of && b->fail && b->order)
		return true;
	error_set_nomem(err);
	return false;
}

struct automaton *automaton_new(const struct automaton_word *words,
				size_t count, struct error *err)
{
	struct build b = {.words = words, .word_count = count};
	struct automaton *a = calloc(1, sizeof(*a));
	bool built = false;

	if (!a) {
		error_set_nomem(err);
		return NULL;
	}
	assign_classes(a, &b);
	if (!allocate_arrays(a, &b, err))
		goto out;
	build_trie(a, &b);
	link_failures(a, &b);
	if (fill_values(a, &b, err) < 0)
		goto out;
	finish_table(a);
	built = true;
out:
	free(b.end_of);
	free(b.fail);
	free(b.order);
	if (built)
		return a;
	automaton_free(a);
	return NULL;
}

void automaton_free(struct automaton *a)
{
	if (!a)
		return;
	free(a->next);
	free(a->first);
	free(a->values);
	free(a);
}

void automaton_scan(const struct automaton *a, const char *text, size_t len,
		    automaton_found_fn *found, void *arg)
{
	uint32_t at = 0;

	for (size_t i = 0; i < len; i++) {
		uint32_t s;

		at = a->next[(at >> 1) + a->class_of[(unsigned char)text[i]]];
		if (!(at & 1))
			continue;
		s = (at >> 1) / a->classes;
		found(arg, a->values + a->first[s],
		      a->first[s + 1] - a->first[s]);
	}
}
