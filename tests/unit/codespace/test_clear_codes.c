/* Codes of spaces that exclude look-alike characters. */
#include "tests/unit/codespace/keys.h"

#include <string.h>

static void codes_without_look_alikes_come_back(unsigned length)
{
	struct codespace *cs = open_base(57, length, 4);
	uint64_t seed = 88172645463325252 + length, id, back;
	char code[CODE_TEXT_MAX];
	unsigned version;

	for (unsigned i = 0; i < 200000; i++) {
		id = next_random(&seed) % codespace_capacity(cs);
		codespace_encode_version(cs, i % 4, id, code);
		assert_int_equal(strlen(code), length);
		if (strpbrk(code, "0O1lI"))
			fail_msg("%s has a look-alike", code);
		if (!codespace_decode(cs, code, length, &back, &version) ||
		    back != id || version != i % 4)
			fail_msg("%s does not decode to its id", code);
	}
	codespace_free(cs);
}

static void a_space_may_leave_out_look_alikes(void **state)
{
	struct codespace *shortest = open_base(57, 4, 1);

	(void)state;
	assert_int_equal(codespace_capacity(shortest), 57 * 57 * 57);
	codespace_free(shortest);
	for (unsigned length = CODE_LENGTH_MIN; length <= CODE_LENGTH_MAX;
	     length++)
		codes_without_look_alikes_come_back(length);
}

static void every_id_without_look_alikes_has_a_code_of_its_own(void **state)
{
	struct codespace *cs = open_base(57, 4, 1);
	unsigned char *seen = calloc(1, 128 * 128 * 128);
	char code[CODE_TEXT_MAX];

	(void)state;
	assert_non_null(seen);
	for (uint64_t id = 0; id < codespace_capacity(cs); id++) {
		codespace_encode(cs, id, code);
		if (seen[(code[0] * 128 + code[1]) * 128 + code[2]]++)
			fail_msg("%s is the code of two ids", code);
	}
	free(seen);
	codespace_free(cs);
}

/* The secret is the same for both alphabets: the codes of one reveal nothing
 * about the other. */
static void another_base_makes_other_codes(void **state)
{
	struct codespace *full = open_base(62, 7, 1),
			 *few = open_base(57, 7, 1);
	char x[CODE_FINGERPRINT_MAX], y[CODE_FINGERPRINT_MAX];

	(void)state;
	codespace_fingerprint(full, 2, x);
	codespace_fingerprint(few, 2, y);
	assert_string_not_equal(x, y);
	codespace_free(full);
	codespace_free(few);
}

/* Published codes must be decodable for ever, so these must never change. */
static void codes_are_what_they_were_in_the_first_release(void **state)
{
	static const struct {
		unsigned length;
		uint64_t id;
		const char *code;
	} known[] = {
		{4, 0, "Zgbh"},
		{7, 123456789, "hPHWAmW"},
		{11, 4398046511103, "cR8NVLXGpcX"},
	};
	char code[CODE_TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct codespace *cs = open_base(57, known[i].length, 1);

		codespace_encode(cs, known[i].id, code);
		codespace_free(cs);
		assert_string_equal(code, known[i].code);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_space_may_leave_out_look_alikes),
		cmocka_unit_test(
			every_id_without_look_alikes_has_a_code_of_its_own),
		cmocka_unit_test(another_base_makes_other_codes),
		cmocka_unit_test(codes_are_what_they_were_in_the_first_release),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
