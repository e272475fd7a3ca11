/* Properties of codes, tested on whole spaces and on millions of random ids. */
#include "tests/unit/codespace/keys.h"

#include <string.h>

/* A sanitizer makes each step about ten times slower. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifdef SANITIZED
#define RANDOM_IDS 200000
#else
#define RANDOM_IDS 10000000
#endif

static void every_id_of_the_shortest_space_has_a_code_of_its_own(void **state)
{
	struct codespace *cs = open_space(4, 1);
	uint64_t id, back, capacity = codespace_capacity(cs);
	unsigned char *seen = calloc(1, 62 * 62 * 62 * 62);
	char code[CODE_TEXT_MAX];
	size_t place;

	(void)state;
	assert_int_equal(capacity, 62 * 62 * 62);
	assert_non_null(seen);
	for (id = 0; id < capacity; id++) {
		codespace_encode(cs, id, code);
		place = 0;
		for (int i = 0; i < 3; i++)
			place = place * 128 + (size_t)code[i];
		if (seen[place]++)
			fail_msg("%s is the code of two ids", code);
		if (!codespace_decode(cs, code, 4, &back, NULL) || back != id)
			fail_msg("%s does not decode to its id", code);
	}
	free(seen);
	codespace_free(cs);
}

/* Tries every text of four symbols: exactly the codes are decoded. */
static void the_shortest_space_has_as_many_codes_as_ids(void **state)
{
	static const char symbols[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcd"
				      "efghijklmnopqrstuvwxyz";
	struct codespace *cs = open_space(4, 1);
	uint64_t codes = 0, id;
	char text[5] = {0};

	(void)state;
	for (uint32_t n = 0; n < 62 * 62 * 62 * 62; n++) {
		text[0] = symbols[n % 62];
		text[1] = symbols[n / 62 % 62];
		text[2] = symbols[n / 62 / 62 % 62];
		text[3] = symbols[n / 62 / 62 / 62];
		codes += codespace_decode(cs, text, 4, &id, NULL);
	}
	assert_int_equal(codes, 62 * 62 * 62);
	codespace_free(cs);
}

static void random_ids_come_back(unsigned length)
{
	struct codespace *cs = open_space(length, 1);
	uint64_t seed = 88172645463325252 + length, id, back;
	char code[CODE_TEXT_MAX];

	for (int i = 0; i < RANDOM_IDS; i++) {
		id = next_random(&seed) % codespace_capacity(cs);
		codespace_encode(cs, id, code);
		if (!codespace_decode(cs, code, length, &back, NULL) ||
		    back != id)
			fail_msg("%s does not decode to its id", code);
	}
	codespace_free(cs);
}

static void random_ids_of_length_5_come_back(void **state)
{
	(void)state;
	random_ids_come_back(5);
}

static void random_ids_of_length_6_come_back(void **state)
{
	(void)state;
	random_ids_come_back(6);
}

static void random_ids_of_length_7_come_back(void **state)
{
	(void)state;
	random_ids_come_back(7);
}

static void random_ids_of_length_8_come_back(void **state)
{
	(void)state;
	random_ids_come_back(8);
}

static void the_ends_of_every_space_come_back(void **state)
{
	uint64_t ids[3], back;
	char code[CODE_TEXT_MAX];

	(void)state;
	for (unsigned length = CODE_LENGTH_MIN; length <= CODE_LENGTH_MAX;
	     length++) {
		struct codespace *cs = open_space(length, 4);

		ids[0] = 0;
		ids[1] = codespace_capacity(cs) / 2;
		ids[2] = codespace_capacity(cs) - 1;
		for (int i = 0; i < 12; i++) {
			codespace_encode_version(cs, (unsigned)i % 4,
						 ids[i / 4], code);
			assert_int_equal(strlen(code), length);
			assert_true(codespace_decode(cs, code, length, &back,
						     NULL));
			assert_int_equal(back, ids[i / 4]);
		}
		codespace_free(cs);
	}
}

static void capacities_are_bounded_by_the_link_id(void **state)
{
	struct codespace *cs = open_space(8, 1);

	(void)state;
	assert_int_equal(codespace_capacity(cs), 3521614606208);
	codespace_free(cs);
	cs = open_space(9, 1);
	assert_int_equal(codespace_capacity(cs), UINT64_C(1) << 42);
	codespace_free(cs);
}

static void old_codes_decode_after_a_rotation(void **state)
{
	struct codespace *before = open_space(7, 1), *after;
	struct codespace_key rotated[] = {keys[1], keys[0]};
	char old[CODE_TEXT_MAX], new[CODE_TEXT_MAX];
	unsigned version;
	struct error err;
	uint64_t id;

	(void)state;
	after = codespace_new(
		&(struct codespace_options){7, 62, rotated, 2, NULL}, &err);
	assert_non_null(after);
	for (uint64_t n = 0; n < 1000; n++) {
		codespace_encode(before, n, old);
		codespace_encode(after, n, new);
		assert_string_not_equal(old, new);
		assert_true(codespace_decode(after, old, 7, &id, &version));
		assert_int_equal(id, n);
		assert_int_equal(version, 2);
		assert_true(codespace_decode(after, new, 7, &id, &version));
		assert_int_equal(version, 0);
		assert_false(codespace_decode(before, new, 7, &id, &version));
	}
	codespace_free(before);
	codespace_free(after);
}

/* Returns how many of the first 1000 codes two spaces have in common. */
static unsigned in_common(const struct codespace_key *a,
			  const struct codespace_key *b)
{
	struct error err;
	struct codespace_options of_a = {7, 62, a, 1, NULL},
				 of_b = {7, 62, b, 1, NULL};
	struct codespace *first = codespace_new(&of_a, &err);
	struct codespace *second = codespace_new(&of_b, &err);
	char x[CODE_TEXT_MAX], y[CODE_TEXT_MAX];
	unsigned same = 0;

	for (uint64_t id = 0; id < 1000; id++) {
		codespace_encode(first, id, x);
		codespace_encode(second, id, y);
		same += !strncmp(x, y, 6);
	}
	codespace_free(first);
	codespace_free(second);
	return same;
}

static void another_secret_or_version_makes_other_codes(void **state)
{
	struct codespace_key key = keys[0];

	(void)state;
	assert_int_equal(in_common(&key, &keys[0]), 1000);
	key.secret = "the secret of version tWo";
	assert_int_equal(in_common(&key, &keys[0]), 0);
	key = keys[0];
	key.version = 1;
	assert_int_equal(in_common(&key, &keys[0]), 0);
}

static void fingerprints_tell_keys_apart(void **state)
{
	struct codespace *a = open_space(7, 2), *b = open_space(6, 2);
	char v2[CODE_FINGERPRINT_MAX], v0[CODE_FINGERPRINT_MAX];
	char other[CODE_FINGERPRINT_MAX];

	(void)state;
	assert_true(codespace_fingerprint(a, 2, v2));
	assert_true(codespace_fingerprint(a, 0, v0));
	assert_true(codespace_fingerprint(b, 2, other));
	assert_int_equal(strlen(v2), 16);
	assert_string_not_equal(v2, v0);
	assert_string_not_equal(v2, other);
	assert_false(codespace_fingerprint(a, 1, other));
	assert_false(codespace_fingerprint(a, 4, other));
	codespace_free(a);
	codespace_free(b);
}

/* Published codes must be decodable for ever, so these must never change. */
static void codes_are_what_they_were_in_the_first_release(void **state)
{
	static const struct {
		unsigned length;
		uint64_t id;
		const char *code;
	} known[] = {
		{4, 0, "734X"},
		{5, 14776335, "BAGSd"},
		{6, 1000, "3cNBTh"},
		{7, 0, "Kgdbi9i"},
		{7, 1, "G1He3fX"},
		{7, 123456789, "uY1rtmc"},
		{8, 3521614606207, "V5rnYsFe"},
		{11, 4398046511103, "oAxQnPBMQ9Z"},
	};
	char code[CODE_TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct codespace *cs = open_space(known[i].length, 1);

		codespace_encode(cs, known[i].id, code);
		codespace_free(cs);
		assert_string_equal(code, known[i].code);
	}
}

static void bytes_that_are_no_symbols_are_refused(void **state)
{
	struct codespace *cs = open_space(7, 4);
	char code[CODE_TEXT_MAX], bad[CODE_TEXT_MAX];
	uint64_t id;

	(void)state;
	codespace_encode(cs, 12345, code);
	for (int place = 0; place < 7; place++) {
		memcpy(bad, code, sizeof(bad));
		for (int byte = 0; byte < 256; byte++) {
			if ((byte >= '0' && byte <= '9') ||
			    (byte >= 'A' && byte <= 'Z') ||
			    (byte >= 'a' && byte <= 'z'))
				continue;
			bad[place] = (char)byte;
			assert_false(codespace_decode(cs, bad, 7, &id, NULL));
		}
	}
	codespace_free(cs);
}

static void another_length_is_refused(void **state)
{
	struct codespace *cs = open_space(7, 1);
	char code[CODE_TEXT_MAX + 2] = {0};
	uint64_t id;

	(void)state;
	codespace_encode(cs, 12345, code);
	assert_false(codespace_decode(cs, code, 0, &id, NULL));
	assert_false(codespace_decode(cs, code, 6, &id, NULL));
	assert_false(codespace_decode(cs, code, 8, &id, NULL));
	codespace_free(cs);
}

static void assert_refused(unsigned length, unsigned base,
			   const struct codespace_key *some, size_t count)
{
	struct codespace_options options = {length, base, some, count, NULL};
	struct error err = {0};

	assert_null(codespace_new(&options, &err));
	assert_int_equal(err.code, ERROR_CONFIG);
}

static void a_wrong_key_is_refused_with_a_reason(void **state)
{
	struct codespace_key bad[2] = {keys[0], keys[0]};

	(void)state;
	assert_refused(7, 62, bad, 2);
	assert_refused(7, 62, bad, 0);
	bad[0].secret_len = 15;
	assert_refused(7, 62, bad, 1);
	bad[0] = (struct codespace_key){4, keys[0].secret, 25};
	assert_refused(7, 62, bad, 1);
}

static void a_wrong_length_or_base_is_refused_with_a_reason(void **state)
{
	(void)state;
	assert_refused(3, 62, keys, 1);
	assert_refused(12, 62, keys, 1);
	assert_refused(7, 61, keys, 1);
	assert_refused(7, 1, keys, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			every_id_of_the_shortest_space_has_a_code_of_its_own),
		cmocka_unit_test(the_shortest_space_has_as_many_codes_as_ids),
		cmocka_unit_test(random_ids_of_length_5_come_back),
		cmocka_unit_test(random_ids_of_length_6_come_back),
		cmocka_unit_test(random_ids_of_length_7_come_back),
		cmocka_unit_test(random_ids_of_length_8_come_back),
		cmocka_unit_test(the_ends_of_every_space_come_back),
		cmocka_unit_test(capacities_are_bounded_by_the_link_id),
		cmocka_unit_test(old_codes_decode_after_a_rotation),
		cmocka_unit_test(another_secret_or_version_makes_other_codes),
		cmocka_unit_test(fingerprints_tell_keys_apart),
		cmocka_unit_test(codes_are_what_they_were_in_the_first_release),
		cmocka_unit_test(bytes_that_are_no_symbols_are_refused),
		cmocka_unit_test(another_length_is_refused),
		cmocka_unit_test(a_wrong_key_is_refused_with_a_reason),
		cmocka_unit_test(
			a_wrong_length_or_base_is_refused_with_a_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
