#include "tests/unit/unit.h"

#include <string.h>

#include "common/json_text.h"

static void expect_json(void (*put)(struct buf *b, const char *text,
				    size_t len),
			const char *text, size_t len, const char *json)
{
	struct buf out = {0};

	put(&out, text, len);
	assert_string_equal(buf_cstr(&out), json);
	buf_free(&out);
}

#define LOSSY(text, json)                                                      \
	expect_json(json_put_lossy, text, sizeof(text) - 1, json)

static void quotes_and_control_characters_are_escaped(void **state)
{
	(void)state;
	expect_json(json_put_string, "a\"b\\c\nd\x01", 8,
		    "\"a\\\"b\\\\c\\nd\\u0001\"");
}

static void well_formed_text_is_kept(void **state)
{
	(void)state;
	LOSSY("", "\"\"");
	LOSSY("\x7e\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80"
	      "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf",
	      "\"\x7e\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80"
	      "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\"");
	LOSSY("\"\n", "\"\\\"\\n\"");
}

static void bytes_that_are_no_utf_8_become_question_marks(void **state)
{
	(void)state;
	LOSSY("a\xff\x80z", "\"a??z\"");
	LOSSY("\xc0\xaf", "\"??\"");
	LOSSY("\xe0\x9f\xbf", "\"???\"");
	LOSSY("\xed\xa0\x80", "\"???\"");
	LOSSY("\xf0\x8f\xbf\xbf", "\"????\"");
	LOSSY("\xf4\x90\x80\x80", "\"????\"");
}

static void a_sequence_that_is_cut_off_becomes_question_marks(void **state)
{
	(void)state;
	LOSSY("ab\xc3", "\"ab?\"");
	LOSSY("\xe2\x82", "\"??\"");
	LOSSY("\xf0\x9f\x98", "\"???\"");
	LOSSY("\xf0\x9fz", "\"??z\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quotes_and_control_characters_are_escaped),
		cmocka_unit_test(well_formed_text_is_kept),
		cmocka_unit_test(bytes_that_are_no_utf_8_become_question_marks),
		cmocka_unit_test(
			a_sequence_that_is_cut_off_becomes_question_marks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
