/*
 * The limits of what a stranger can learn from codes, and of guessing.
 *
 * The stranger has very many pairs of id and code, or of URL and code, knows
 * the whole algorithm and even the order of the symbols, but not the keys. Each
 * measure counts something that an ideal code shows as often as chance.  Each
 * is also tested with weakened codes, and must detect them.
 */
#include "tests/unit/codespace/keys.h"

#include <math.h>
#include <string.h>

#include "codespace/alphabet.h"
#include "codespace/feistel.h"
#include "codespace/url_code.h"

static const char all_symbols[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcd"
				  "efghijklmnopqrstuvwxyz";

/* In standard deviations: a deviation that chance does not reach, and one that
 * a measure must show for a weak code. */
#define CHANCE 5
#define SURELY 10

static double standard_score(double counted, double expected)
{
	return (counted - expected) / sqrt(expected);
}

static int compare_numbers(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Sorts the values and returns how many pairs are equal. */
static double equal_pairs(uint64_t *values, size_t count)
{
	double pairs = 0;
	size_t run = 0;

	qsort(values, count, sizeof(*values), compare_numbers);
	for (size_t i = 1; i < count; i++) {
		run = values[i] == values[i - 1] ? run + 1 : 0;
		pairs += (double)run;
	}
	return pairs;
}

/* --- sequence: pairs of id and code --------------------------------------- */

/* A permutation under test: a space's codes, or a network with fewer rounds. */
struct suspect {
	unsigned rounds;      /* 0: the codes */
	struct codespace *cs; /* for the codes */
	unsigned length;
	struct alphabet alphabet;
	struct feistel network;
	uint64_t left, right; /* sizes of the parts */
};

static uint64_t power_of_62(unsigned exponent)
{
	return exponent ? 62 * power_of_62(exponent - 1) : 1;
}

static void suspect_open(struct suspect *s, unsigned length, unsigned rounds,
			 size_t key)
{
	struct codespace_options options = {length, 62, &keys[key], 1, NULL};
	unsigned char master[CODE_MASTER], seed[ALPHABET_SEED];
	char purpose[32];
	struct error err;

	snprintf(purpose, sizeof(purpose), "codespace %u 62", length);
	*s = (struct suspect){
		.rounds = rounds,
		.length = length,
		.left = power_of_62((length - 1) / 2),
		.right = power_of_62(length / 2),
	};
	if (code_key_master(&keys[key], purpose, master, &err) ||
	    code_key_derive(master, CODE_USE_ALPHABET, seed, sizeof(seed),
			    &err))
		fail_msg("%s", err.text);
	alphabet_shuffled(&s->alphabet, 62, seed);
	feistel_init(&s->network, s->left, s->right, 15, master);
	s->cs = codespace_new(&options, &err);
	assert_non_null(s->cs);
}

static uint64_t read_digits(const struct suspect *s, const char *from,
			    unsigned count)
{
	uint64_t number = 0;

	while (count--)
		number = 62 * number + s->alphabet.digits[(uint8_t)*from++];
	return number;
}

/* Returns what the stranger sees of an id: both parts of its code. */
static struct feistel_parts look_at(const struct suspect *s, uint64_t id)
{
	unsigned left = (s->length - 1) / 2, right = s->length - 1 - left;
	struct feistel_parts p = {0};
	char code[CODE_TEXT_MAX];

	switch (s->rounds) {
	case 2:
		return feistel_permute_rounds(&s->network, id, 2);
	case 3:
		return feistel_permute_rounds(&s->network, id, 3);
	case 4:
		return feistel_permute_rounds(&s->network, id, 4);
	case 5:
		return feistel_permute_rounds(&s->network, id, 5);
	default:
		break;
	}
	codespace_encode(s->cs, id, code);
	p.left = read_digits(s, code, left);
	p.right = read_digits(s, code + left, right);
	p.tag = (uint64_t)(strchr(all_symbols, code[s->length - 1]) -
			   all_symbols) %
		15;
	return p;
}

/*
 * The ids differ only in their left part, by d.  Up to four rounds the left
 * parts of their codes differ by d, too, at least twice as often as by chance:
 * Luby and Rackoff's attack on three rounds and Patarin's on four ("Generic
 * attacks on Feistel schemes", ASIACRYPT 2001).  `with_right`: only pairs with
 * equal right parts count, which detects five.
 */
static double measure_differences(const struct suspect *s, size_t groups,
				  size_t size, bool with_right)
{
	double pairs = 0, expected = (double)s->left;
	uint64_t *values = malloc(size * sizeof(*values));
	struct feistel_parts p;

	assert_non_null(values);
	assert_true(size <= s->left && groups <= s->right);
	for (uint64_t right = 0; right < groups; right++) {
		for (uint64_t left = 0; left < size; left++) {
			p = look_at(s, left * s->right + right);
			values[left] = (p.left + s->left - left) % s->left;
			if (with_right)
				values[left] =
					values[left] * s->right + p.right;
		}
		pairs += equal_pairs(values, size);
	}
	free(values);
	if (with_right)
		expected *= (double)s->right;
	expected = (double)groups * (double)size * (double)(size - 1) / 2 /
		   expected;
	return standard_score(pairs, expected);
}

static double differences_of(unsigned rounds, size_t key)
{
	struct suspect s;
	double z;

	suspect_open(&s, 7, rounds, key);
	z = measure_differences(&s, 40, 4000, false);
	codespace_free(s.cs);
	return z;
}

static double joint_differences_of(unsigned rounds, size_t key)
{
	struct suspect s;
	double z;

	/* A stranger can see enough of short codes. */
	suspect_open(&s, 5, rounds, key);
	z = measure_differences(&s, 400, (size_t)s.left, true);
	codespace_free(s.cs);
	return z;
}

static void differences_of_ids_do_not_show_in_codes(void **state)
{
	(void)state;
	for (size_t key = 0; key < CODE_VERSIONS; key++) {
		assert_true(fabs(differences_of(0, key)) < CHANCE);
		assert_true(fabs(joint_differences_of(0, key)) < CHANCE);
	}
}

static void a_network_of_two_to_five_rounds_is_found_out(void **state)
{
	(void)state;
	assert_true(differences_of(2, 0) > SURELY);
	assert_true(differences_of(3, 0) > SURELY);
	assert_true(differences_of(4, 0) > SURELY);
	assert_true(joint_differences_of(5, 0) > SURELY);
}

/* Returns chi-square of a table that should be even, in standard deviations. */
static double measure_unevenness(const unsigned *counts, size_t cells,
				 double expected)
{
	double chi = 0, freedom = (double)cells - 1;

	for (size_t i = 0; i < cells; i++)
		chi += ((double)counts[i] - expected) *
		       ((double)counts[i] - expected) / expected;
	return (chi - freedom) / sqrt(2 * freedom);
}

/* Compares the check character with the symbols beside it, and with the id. */
static double tags_of(unsigned rounds)
{
	enum {
		N = 15 * 62 * 200
	};
	static unsigned first[15 * 62], last[15 * 62], id[15 * 62];
	struct feistel_parts p;
	struct suspect s;
	double z, worst;

	memset(first, 0, sizeof(first));
	memset(last, 0, sizeof(last));
	memset(id, 0, sizeof(id));
	suspect_open(&s, 7, rounds, 0);
	for (uint64_t i = 0; i < N; i++) {
		p = look_at(&s, i);
		first[p.tag * 62 + p.left % 62]++;
		last[p.tag * 62 + p.right % 62]++;
		id[p.tag * 62 + i % 62]++;
	}
	codespace_free(s.cs);
	worst = measure_unevenness(first, 15 * 62, 200);
	z = measure_unevenness(last, 15 * 62, 200);
	worst = z > worst ? z : worst;
	z = measure_unevenness(id, 15 * 62, 200);
	return z > worst ? z : worst;
}

static void a_check_character_follows_from_nothing_a_stranger_sees(void **state)
{
	(void)state;
	assert_true(tags_of(0) < CHANCE);
	assert_true(tags_of(3) > SURELY);
}

/* If the sequence were visible, ids at some distance would agree in some place
 * more often than by chance (one in 62). */
static double agreement_at(const struct suspect *s, uint64_t step)
{
	enum {
		N = 62000
	};
	struct feistel_parts a, b;
	unsigned same[4] = {0};
	double z, worst = 0;

	for (uint64_t id = 0; id < N; id++) {
		a = look_at(s, id);
		b = look_at(s, id + step);
		same[0] += a.left / 62 / 62 == b.left / 62 / 62;
		same[1] += a.left % 62 == b.left % 62;
		same[2] += a.right / 62 / 62 == b.right / 62 / 62;
		same[3] += a.right % 62 == b.right % 62;
	}
	for (int i = 0; i < 4; i++) {
		z = fabs(standard_score(same[i], N / 62.0));
		worst = z > worst ? z : worst;
	}
	return worst;
}

static void neighbours_in_id_are_not_neighbours_in_code(void **state)
{
	static const uint64_t steps[] = {1, 2, 62, 1000, 62 * 62, 62 * 62 * 62};
	struct suspect s;

	(void)state;
	suspect_open(&s, 7, 0, 0);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		assert_true(agreement_at(&s, steps[i]) < CHANCE);
	s.rounds = 2;
	assert_true(agreement_at(&s, 62 * 62 * 62) > SURELY);
	codespace_free(s.cs);
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

/* --- hash: pairs of URL and code ------------------------------------------ */

static struct url_codes *open_urls(enum url_code_method method, unsigned length)
{
	struct error err;
	struct url_codes *uc =
		url_codes_new(method, length, 62, &keys[0], &err);

	if (!uc)
		fail_msg("%s", err.text);
	return uc;
}

/* Returns the code of a URL as a number in base 62. */
static uint64_t url_number(const struct url_codes *uc, const char *url,
			   unsigned attempt, char code[URL_CODE_TEXT_MAX])
{
	struct url_code_subject of = {"crm", "", url, strlen(url)};
	uint64_t number = 0;
	struct error err;

	if (url_code_candidate(uc, &of, attempt, code, &err))
		fail_msg("%s", err.text);
	for (const char *p = code; *p; p++)
		number = 62 * number +
			 (uint64_t)(strchr(all_symbols, *p) - all_symbols);
	return number;
}

/* Returns how many of 20,000 codes are among the 2^32 that a stranger can list.
 */
static unsigned of_the_listed(enum url_code_method method)
{
	struct url_codes *uc = open_urls(method, 7);
	unsigned __int128 codes = power_of_62(7), quarter;
	char url[40], code[URL_CODE_TEXT_MAX];
	unsigned found = 0;
	uint64_t number;

	for (int i = 0; i < 20000; i++) {
		snprintf(url, sizeof(url), "https://x.example/%d", i);
		number = url_number(uc, url, 0, code);
		quarter =
			(((unsigned __int128)number << 32) + codes - 1) / codes;
		found += (uint64_t)(quarter * codes >> 32) == number;
	}
	url_codes_free(uc);
	return found;
}

static void a_keyed_code_is_of_no_list_a_stranger_can_make(void **state)
{
	(void)state;
	/* 24 by chance. */
	assert_in_range(of_the_listed(URL_CODE_KEYED), 4, 50);
	assert_int_equal(of_the_listed(URL_CODE_MD5_QUARTERS), 20000);
}

/* Returns how many codes of 8 characters 300,000 URLs have in common. */
static double count_collisions(enum url_code_method method)
{
	enum {
		N = 300000
	};
	struct url_codes *uc = open_urls(method, 8);
	uint64_t *numbers = malloc(N * sizeof(*numbers));
	char url[40], code[URL_CODE_TEXT_MAX];
	double pairs;

	assert_non_null(numbers);
	for (int i = 0; i < N; i++) {
		snprintf(url, sizeof(url), "https://x.example/%d", i);
		numbers[i] = url_number(uc, url, 0, code);
	}
	pairs = equal_pairs(numbers, N);
	free(numbers);
	url_codes_free(uc);
	return pairs;
}

static void keyed_codes_are_as_many_as_their_length_says(void **state)
{
	(void)state;
	/* 0.013 are expected; with 32 bits, 10.5. */
	assert_true(count_collisions(URL_CODE_KEYED) < 2);
	assert_true(count_collisions(URL_CODE_MD5_QUARTERS) > 2);
}

/* One other bit in the URL, or another attempt, makes an entirely different
 * code. */
static void a_keyed_code_says_nothing_of_the_next(void **state)
{
	enum {
		N = 62000
	};
	struct url_codes *uc = open_urls(URL_CODE_KEYED, 7);
	char a[URL_CODE_TEXT_MAX], b[URL_CODE_TEXT_MAX], c[URL_CODE_TEXT_MAX];
	unsigned bit[6] = {0}, attempt[6] = {0};
	char url[40];

	(void)state;
	for (unsigned i = 0; i < N; i++) {
		snprintf(url, sizeof(url), "https://x.example/%u", i);
		url_number(uc, url, i % 8, a);
		url_number(uc, url, i % 8 + 1, b);
		url[i % 18] ^= (char)(1 << i % 7);
		/* A NUL is avoided, since the URL would end there. */
		if (!url[i % 18])
			url[i % 18] = 1;
		url_number(uc, url, i % 8, c);
		for (int at = 0; at < 6; at++) {
			attempt[at] += a[at] == b[at];
			bit[at] += a[at] == c[at];
		}
	}
	for (int at = 0; at < 6; at++) {
		assert_true(fabs(standard_score(attempt[at], N / 62.0)) <
			    CHANCE);
		assert_true(fabs(standard_score(bit[at], N / 62.0)) < CHANCE);
	}
	url_codes_free(uc);
}

/* --- guesses -------------------------------------------------------------- */

static void flip_one_symbol(const struct codespace *cs, uint64_t *seed,
			    unsigned *accepted)
{
	uint64_t id = next_random(seed) % codespace_capacity(cs), back;
	char code[CODE_TEXT_MAX];
	unsigned place = (unsigned)(next_random(seed) % 6);
	char was;

	codespace_encode(cs, id, code);
	was = code[place];
	do
		code[place] = all_symbols[next_random(seed) % 62];
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
	static const char clear[] = "23456789ABCDEFGHJKLMNPQRSTUVWXYZabcd"
				    "efghijkmnopqrstuvwxyz";
	struct codespace *one = open_space(7, 1), *four = open_space(7, 4);
	struct codespace *few = open_base(57, 7, 4);

	(void)state;
	/* 1 and 4 of 62: one version uses 15 of the 62 check characters. */
	assert_in_range(count_guesses(one, all_symbols, 620000), 9500, 10500);
	assert_in_range(count_guesses(four, all_symbols, 155000), 9500, 10500);
	/* 4 of 57. */
	assert_in_range(count_guesses(few, clear, 142500), 9500, 10500);
	codespace_free(one);
	codespace_free(four);
	codespace_free(few);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(differences_of_ids_do_not_show_in_codes),
		cmocka_unit_test(a_network_of_two_to_five_rounds_is_found_out),
		cmocka_unit_test(
			a_check_character_follows_from_nothing_a_stranger_sees),
		cmocka_unit_test(neighbours_in_id_are_not_neighbours_in_code),
		cmocka_unit_test(every_symbol_is_as_likely_in_every_place),
		cmocka_unit_test(
			a_keyed_code_is_of_no_list_a_stranger_can_make),
		cmocka_unit_test(keyed_codes_are_as_many_as_their_length_says),
		cmocka_unit_test(a_keyed_code_says_nothing_of_the_next),
		cmocka_unit_test(
			a_mistyped_code_is_refused_fourteen_times_in_fifteen),
		cmocka_unit_test(
			a_guess_is_refused_at_least_fourteen_times_in_fifteen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
