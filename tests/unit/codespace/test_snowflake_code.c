/* Codes of ids that were made without Redis. */
#include "tests/unit/codespace/keys.h"

#include <string.h>

#include "codespace/snowflake.h"
#include "codespace/snowflake_code.h"

static struct snowflake_codes *open_codes(unsigned base, size_t key_count)
{
	struct error err;
	struct snowflake_codes *sc =
		snowflake_codes_new(base, keys, key_count, &err);

	if (!sc)
		fail_msg("%s", err.text);
	return sc;
}

/* Base 57 has room for the versions 0 and 1 only. */
static struct snowflake_codes *open_clear_codes(void)
{
	struct error err;
	struct snowflake_codes *sc = snowflake_codes_new(57, &keys[1], 1, &err);

	if (!sc)
		fail_msg("%s", err.text);
	return sc;
}

static void assert_comes_back(const struct snowflake_codes *sc, uint64_t id)
{
	char code[SNOWFLAKE_CODE_TEXT_MAX];
	uint64_t back;
	int64_t ms;

	snowflake_codes_encode(sc, id, code);
	assert_int_equal(strlen(code), 11);
	if (!snowflake_codes_decode(sc, code, 11, &back, &ms, NULL) ||
	    back != id)
		fail_msg("%s does not decode to its id", code);
	assert_true(ms == snowflake_ms(id, SNOWFLAKE_CODE_SEQUENCE));
}

static void ids_come_back(void **state)
{
	struct snowflake_codes *full = open_codes(62, 1);
	struct snowflake_codes *clear = open_clear_codes();
	uint64_t seed = 88172645463325252;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		assert_comes_back(full, next_random(&seed) >> 1);
		assert_comes_back(clear, next_random(&seed) >> 1);
	}
	assert_comes_back(full, 0);
	assert_comes_back(full, INT64_MAX);
	assert_comes_back(clear, 0);
	assert_comes_back(clear, INT64_MAX);
	snowflake_codes_free(full);
	snowflake_codes_free(clear);
}

/* Published codes must be decodable for ever, so these must never change. */
static void codes_are_what_they_were_in_the_first_release(void **state)
{
	static const struct {
		unsigned base;
		uint64_t id;
		const char *code;
	} known[] = {
		{62, 0, "QaeNT9xvnj9"},
		{62, 1, "NotPNDfMfh9"},
		{62, INT64_MAX, "Qz2wXWcTFMj"},
		{57, 0, "FqDxL2mvjPg"},
		{57, INT64_C(1) << 62, "KWHaxXnCHBA"},
	};
	char code[SNOWFLAKE_CODE_TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct snowflake_codes *sc = known[i].base == 62
						     ? open_codes(62, 1)
						     : open_clear_codes();

		snowflake_codes_encode(sc, known[i].id, code);
		snowflake_codes_free(sc);
		assert_string_equal(code, known[i].code);
	}
}

static void neighbours_in_id_are_not_neighbours_in_code(void **state)
{
	struct snowflake_codes *sc = open_codes(62, 1);
	char last[SNOWFLAKE_CODE_TEXT_MAX], code[SNOWFLAKE_CODE_TEXT_MAX];
	uint64_t first = UINT64_C(200000000000) << 22;
	unsigned same[11] = {0};

	(void)state;
	snowflake_codes_encode(sc, first, last);
	for (uint64_t i = 1; i <= 62000; i++) {
		snowflake_codes_encode(sc, first + i, code);
		for (int place = 0; place < 11; place++)
			same[place] += code[place] == last[place];
		memcpy(last, code, sizeof(last));
	}
	/* 1000 expected; the first place has 11 symbols for one version. */
	for (int place = 1; place < 11; place++)
		assert_in_range(same[place], 800, 1200);
	assert_in_range(same[0], 5000, 6500);
	snowflake_codes_free(sc);
}

static void old_codes_decode_after_a_rotation(void **state)
{
	struct snowflake_codes *old = open_codes(62, 1), *new;
	struct codespace_key rotated[] = {keys[3], keys[0]};
	char code[SNOWFLAKE_CODE_TEXT_MAX], other[SNOWFLAKE_CODE_TEXT_MAX];
	unsigned version;
	uint64_t back;
	struct error err;
	int64_t ms;

	(void)state;
	new = snowflake_codes_new(62, rotated, 2, &err);
	assert_non_null(new);
	for (uint64_t id = 0; id < 1000; id++) {
		snowflake_codes_encode(old, id, code);
		snowflake_codes_encode(new, id, other);
		assert_string_not_equal(code, other);
		assert_true(snowflake_codes_decode(new, code, 11, &back, &ms,
						   &version));
		assert_true(back == id && version == 2);
		assert_true(snowflake_codes_decode(new, other, 11, &back, &ms,
						   &version));
		assert_true(back == id && version == 1);
		assert_false(snowflake_codes_decode(old, other, 11, &back, &ms,
						    &version));
	}
	snowflake_codes_free(old);
	snowflake_codes_free(new);
}

static unsigned count_guesses(const struct snowflake_codes *sc,
			      const char *symbols, unsigned tries)
{
	uint64_t seed = 7, id;
	unsigned accepted = 0;
	size_t base = strlen(symbols);
	char code[12] = {0};
	int64_t ms;

	for (unsigned i = 0; i < tries; i++) {
		for (int j = 0; j < 11; j++)
			code[j] = symbols[next_random(&seed) % base];
		accepted +=
			snowflake_codes_decode(sc, code, 11, &id, &ms, NULL);
	}
	return accepted;
}

static void numbers_that_are_not_ids_are_refused(void **state)
{
	static const char all[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcd"
				  "efghijklmnopqrstuvwxyz";
	static const char clear[] = "23456789ABCDEFGHJKLMNPQRSTUVWXYZabcd"
				    "efghijkmnopqrstuvwxyz";
	struct snowflake_codes *one = open_codes(62, 1);
	struct snowflake_codes *four = open_codes(62, 4);
	struct snowflake_codes *few = open_clear_codes();

	(void)state;
	/* The shares are 2^63 of 62^11 numbers, 2^65 of them, and 2^63 of
	 * 57^11. */
	assert_in_range(count_guesses(one, all, 100000), 17200, 18300);
	assert_in_range(count_guesses(four, all, 100000), 70300, 71500);
	assert_in_range(count_guesses(few, clear, 100000), 44000, 45400);
	snowflake_codes_free(one);
	snowflake_codes_free(four);
	snowflake_codes_free(few);
}

static void what_is_no_code_is_refused(void **state)
{
	struct snowflake_codes *sc = open_codes(62, 4);
	char code[SNOWFLAKE_CODE_TEXT_MAX];
	uint64_t id = 42;
	int64_t ms;

	(void)state;
	snowflake_codes_encode(sc, 12345, code);
	assert_false(snowflake_codes_decode(sc, code, 10, &id, &ms, NULL));
	assert_false(snowflake_codes_decode(sc, code, 12, &id, &ms, NULL));
	assert_false(snowflake_codes_decode(sc, code, 0, &id, &ms, NULL));
	assert_false(
		snowflake_codes_decode(sc, "zzzzzzzzzzz", 11, &id, &ms, NULL));
	for (int place = 0; place < 11; place++) {
		char was = code[place];

		code[place] = '-';
		assert_false(
			snowflake_codes_decode(sc, code, 11, &id, &ms, NULL));
		code[place] = was;
	}
	assert_int_equal(id, 42);
	snowflake_codes_free(sc);
}

static void wrong_settings_are_refused_with_a_reason(void **state)
{
	struct codespace_key twice[] = {keys[0], keys[0]};
	struct error err = {0};

	(void)state;
	assert_null(snowflake_codes_new(62, keys, 0, &err));
	assert_int_equal(err.code, ERROR_CONFIG);
	assert_null(snowflake_codes_new(62, twice, 2, &err));
	assert_null(snowflake_codes_new(60, keys, 1, &err));
	assert_null(snowflake_codes_new(57, keys, 1, &err));
	assert_non_null(strstr(err.text, "version 2"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ids_come_back),
		cmocka_unit_test(codes_are_what_they_were_in_the_first_release),
		cmocka_unit_test(neighbours_in_id_are_not_neighbours_in_code),
		cmocka_unit_test(old_codes_decode_after_a_rotation),
		cmocka_unit_test(numbers_that_are_not_ids_are_refused),
		cmocka_unit_test(what_is_no_code_is_refused),
		cmocka_unit_test(wrong_settings_are_refused_with_a_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
