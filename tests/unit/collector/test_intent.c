#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "collector/exactly_once/intent.h"
#include "collector/exactly_once/ranges.h"

static enum intent_kind parse_intent(const char *text, struct intent *ret)
{
	return intent_parse(text, strlen(text), ret);
}

static void what_is_written_is_read(void **state)
{
	static const struct intent cases[] = {
		{1, false, 0, 0},
		{7, true, 0, 0},
		{UINT32_MAX, true, 41, 99},
		{2, true, INT64_MAX - 1, INT64_MAX - 1},
	};
	char text[INTENT_TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct intent got = {0};

		intent_format(&cases[i], text);
		assert_int_equal(parse_intent(text, &got), INTENT_OURS);
		assert_int_equal(got.epoch, cases[i].epoch);
		assert_int_equal(got.has_batch, cases[i].has_batch);
		assert_int_equal(got.first, cases[i].first);
		assert_int_equal(got.last, cases[i].last);
	}
	assert_string_equal(intent_format(&cases[2], text),
			    "shortloop 1 4294967295 41-99");
}

static void what_others_wrote_says_nothing(void **state)
{
	static const char *const texts[] = {"",
					    "x",
					    "shortloop",
					    "NO_METADATA",
					    "{\"a\":1}",
					    "SHORTLOOP 1 2",
					    " shortloop 1 2"};
	struct intent got;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		assert_int_equal(parse_intent(texts[i], &got), INTENT_FOREIGN);
	assert_int_equal(intent_parse(NULL, 0, &got), INTENT_FOREIGN);
	assert_int_equal(intent_parse("\0\xff", 2, &got), INTENT_FOREIGN);
}

static void what_cannot_be_read_is_not_taken_for_nothing(void **state)
{
	static const char *const texts[] = {
		"shortloop ",
		"shortloop 2 1 5-9",
		"shortloop 1 ",
		"shortloop 1 1 ",
		"shortloop 1 1 5",
		"shortloop 1 1 9-5",
		"shortloop 1 1 5-9 ",
		"shortloop 1 4294967296",
		"shortloop 1 01",
		"shortloop 1 1 -1-5",
		"shortloop 1 1 5-9223372036854775807"};
	struct intent got;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		assert_int_equal(parse_intent(texts[i], &got), INTENT_LATER);
	assert_int_equal(intent_parse("shortloop 1 1\0", 14, &got),
			 INTENT_LATER);
}

static void a_set_of_ranges_knows_its_members(void **state)
{
	struct ranges r = {0};
	struct error err = {0};

	(void)state;
	assert_false(ranges_have(&r, 0));
	assert_int_equal(ranges_end(&r), 0);
	ranges_add(&r, 3, 5, &err);
	ranges_add(&r, 9, 9, &err);
	for (unsigned i = 0; i < 12; i++)
		assert_int_equal(ranges_have(&r, i),
				 (i >= 3 && i <= 5) || i == 9);
	/* The search also works backwards. */
	assert_true(ranges_have(&r, 4));
	assert_int_equal(ranges_end(&r), 10);
	assert_int_equal(ranges_count(&r, 0, UINT64_MAX - 1), 4);
	assert_int_equal(ranges_count(&r, 5, 9), 2);
	assert_int_equal(ranges_count(&r, 6, 8), 0);
	ranges_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(what_others_wrote_says_nothing),
		cmocka_unit_test(what_cannot_be_read_is_not_taken_for_nothing),
		cmocka_unit_test(a_set_of_ranges_knows_its_members),
	};

	return cmocka_run_group_tests_name("intent", tests, NULL, NULL);
}
