/* What a stranger can learn from codes, and how far guessing leads. */
#include "tests/unit/codespace/keys.h"

#include <string.h>

/* A sequence that showed would make neighbouring ids agree in some place, or
 * be apart by some step, more often than by chance (one in 62). */
static void neighbours_in_id_are_not_neighbours_in_code(void **state)
{
	struct codespace *cs = open_space(7, 1);
	unsigned same[6] = {0}, step[6][128] = {{0}};
	char last[CODE_TEXT_MAX], code[CODE_TEXT_MAX];
	enum {
		N = 62000
	};

	(void)state;
	codespace_encode(cs, 0, last);
	for (uint64_t id = 1; id <= N; id++) {
		codespace_encode(cs, id, code);
		for (int i = 0; i < 6; i++) {
			same[i] += code[i] == last[i];
			step[i][(code[i] - last[i]) & 127]++;
		}
		memcpy(last, code, sizeof(last));
	}
	for (int i = 0; i < 6; i++) {
		/* 1000 expected, standard deviation 31. */
		assert_in_range(same[i], 800, 1200);
		for (int s = 1; s < 128; s++)
			assert_true(step[i][s] < 1300);
	}
	codespace_free(cs);
}

static void every_symbol_is_as_likely_in_every_place(void **state)
{
	struct codespace *cs = open_space(7, 1);
	unsigned count[6][128] = {{0}};
	char code[CODE_TEXT_MAX];

	(void)state;
	for (uint64_t id = 0; id < 62000; id++) {
		codespace_encode(cs, id, code);
		for (int i = 0; i < 6; i++)
			count[i][(int)code[i]]++;
	}
	for (int i = 0; i < 6; i++)
		for (int c = 0; c < 128; c++)
			if (count[i][c])
				assert_in_range(count[i][c], 800, 1200);
	codespace_free(cs);
}

static void flip_one_symbol(const struct codespace *cs, uint64_t *seed,
			    unsigned *accepted)
{
	static const char symbols[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcd"
				      "efghijklmnopqrstuvwxyz";
	uint64_t id = next_random(seed) % codespace_capacity(cs), back;
	char code[CODE_TEXT_MAX];
	unsigned place = (unsigned)(next_random(seed) % 6);
	char was;

	codespace_encode(cs, id, code);
	was = code[place];
	do
		code[place] = symbols[next_random(seed) % 62];
	while (code[place] == was);
	*accepted += codespace_decode(cs, code, 7, &back, NULL);
}

static void a_mistyped_code_is_refused_fourteen_times_in_fifteen(void **state)
{
	struct codespace *cs = open_space(7, 4);
	uint64_t seed = 42;
	unsigned accepted = 0;

	(void)state;
	for (int i = 0; i < 150000; i++)
		flip_one_symbol(cs, &seed, &accepted);
	/* 10,000 expected, standard deviation 97. */
	assert_in_range(accepted, 9500, 10500);
	codespace_free(cs);
}

static unsigned count_guesses(const struct codespace *cs, const char *symbols,
			      int tries)
{
	uint64_t seed = 7, id;
	unsigned accepted = 0;
	size_t base = strlen(symbols);
	char code[8] = {0};

	for (int i = 0; i < tries; i++) {
		for (int j = 0; j < 7; j++)
			code[j] = symbols[next_random(&seed) % base];
		accepted += codespace_decode(cs, code, 7, &id, NULL);
	}
	return accepted;
}

static void a_guess_is_refused_at_least_fourteen_times_in_fifteen(void **state)
{
	static const char all[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcd"
				  "efghijklmnopqrstuvwxyz";
	static const char clear[] = "23456789ABCDEFGHJKLMNPQRSTUVWXYZabcd"
				    "efghijkmnopqrstuvwxyz";
	struct codespace *one = open_space(7, 1), *four = open_space(7, 4);
	struct codespace *few = open_base(57, 7, 4);

	(void)state;
	/* 1 and 4 of 62: one version knows 15 of the 62 check characters. */
	assert_in_range(count_guesses(one, all, 620000), 9500, 10500);
	assert_in_range(count_guesses(four, all, 155000), 9500, 10500);
	/* 4 of 57. */
	assert_in_range(count_guesses(few, clear, 142500), 9500, 10500);
	codespace_free(one);
	codespace_free(four);
	codespace_free(few);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(neighbours_in_id_are_not_neighbours_in_code),
		cmocka_unit_test(every_symbol_is_as_likely_in_every_place),
		cmocka_unit_test(
			a_mistyped_code_is_refused_fourteen_times_in_fifteen),
		cmocka_unit_test(
			a_guess_is_refused_at_least_fourteen_times_in_fifteen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
