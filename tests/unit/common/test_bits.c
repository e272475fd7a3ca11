/* Compares sets of bits with a plain array; the random seed is fixed. */
#include "tests/unit/unit.h"

#include "common/bits.h"

enum {
	NUMBERS = 300, /* not a multiple of 64 */
	ROUNDS = 50,
};

struct world {
	uint64_t *bits;
	bool plain[NUMBERS];
};

/* Fills in runs of members and of other numbers, shorter and longer than a
 * word. */
static void fill_bits_and_array(struct world *w)
{
	bool in = random() % 2;
	long length = 0;

	w->bits = bits_new(NUMBERS);
	assert_non_null(w->bits);
	for (uint64_t n = 0; n < NUMBERS; n++) {
		if (length-- == 0) {
			in = !in;
			length = random() % (random() % 2 ? 3 : 150);
		}
		w->plain[n] = in;
		if (in)
			assert_true(bits_add(w->bits, n));
	}
}

static void each_round(void (*check)(const struct world *w))
{
	srandom(7);
	for (int round = 0; round < ROUNDS; round++) {
		struct world w;

		fill_bits_and_array(&w);
		check(&w);
		free(w.bits);
	}
}

static void check_members(const struct world *w)
{
	for (uint64_t n = 0; n < NUMBERS; n++) {
		assert_int_equal(bits_have(w->bits, n), w->plain[n]);
		if (w->plain[n])
			assert_false(bits_add(w->bits, n));
	}
}

static void a_set_has_what_was_added_once(void **state)
{
	(void)state;
	each_round(check_members);
}

static void check_counts(const struct world *w)
{
	for (uint64_t first = 0; first < NUMBERS; first++) {
		uint64_t count = 0;

		for (uint64_t last = first; last < NUMBERS; last++) {
			count += w->plain[last];
			assert_int_equal(bits_count(w->bits, first, last),
					 count);
		}
	}
}

static void a_count_includes_both_ends(void **state)
{
	(void)state;
	each_round(check_counts);
}

static uint64_t plain_next(const struct world *w, uint64_t from, uint64_t end,
			   bool what)
{
	while (from < end && w->plain[from] != what)
		from++;
	return from < end ? from : end;
}

static void check_next(const struct world *w)
{
	for (uint64_t end = 0; end <= NUMBERS; end++)
		for (uint64_t from = 0; from <= end; from++) {
			assert_int_equal(bits_next(w->bits, from, end),
					 plain_next(w, from, end, true));
			assert_int_equal(bits_next_absent(w->bits, from, end),
					 plain_next(w, from, end, false));
		}
}

static void what_is_next_lies_before_the_end(void **state)
{
	(void)state;
	each_round(check_next);
}

static void an_array_has_a_word_for_each_begun_64(void **state)
{
	(void)state;
	assert_int_equal(bits_words(0), 0);
	assert_int_equal(bits_words(1), 1);
	assert_int_equal(bits_words(64), 1);
	assert_int_equal(bits_words(65), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_set_has_what_was_added_once),
		cmocka_unit_test(a_count_includes_both_ends),
		cmocka_unit_test(what_is_next_lies_before_the_end),
		cmocka_unit_test(an_array_has_a_word_for_each_begun_64),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
