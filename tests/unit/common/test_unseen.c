/* Invisible characters. */
#include "tests/unit/unit.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <string.h>

#include "common/unseen.h"

/* --- comparison with another table ---------------------------------------- */

static pcre2_code *compile_pattern(const char *pattern)
{
	PCRE2_SIZE at;
	int error;
	pcre2_code *code =
		pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
			      PCRE2_UTF, &error, &at, NULL);

	assert_non_null(code);
	return code;
}

static size_t put_utf8(uint32_t c, unsigned char to[4])
{
	static const unsigned char marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
	size_t len = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	for (size_t i = len; i-- > 1; c >>= 6)
		to[i] = (unsigned char)(0x80 | (c & 0x3f));
	to[0] = (unsigned char)(marks[len] | c);
	return len;
}

static bool pattern_matches(const pcre2_code *code, uint32_t c,
			    pcre2_match_data *data)
{
	unsigned char text[4];
	size_t len = put_utf8(c, text);

	return pcre2_match(code, text, len, 0, 0, data, NULL) >= 0;
}

static void all_kinds_are_those_of_unicode(void **state)
{
	pcre2_code *control = compile_pattern("[\\p{Cc}\\p{Zl}\\p{Zp}]"),
		   *blank = compile_pattern("\\p{Zs}"),
		   *ignorable = compile_pattern(
			   "[\\p{Default_Ignorable_Code_Point}\\x{fff9}-"
			   "\\x{fffb}]");
	pcre2_match_data *data = pcre2_match_data_create(1, NULL);
	unsigned hidden = UNSEEN_FORMAT | UNSEEN_JOINER;

	(void)state;
	for (uint32_t c = 0; c <= 0x10ffff; c++) {
		unsigned kind = unseen_kind(c);

		if (c >= 0xd800 && c <= 0xdfff)
			continue;
		if (pattern_matches(control, c, data) !=
			    (kind == UNSEEN_CONTROL) ||
		    pattern_matches(blank, c, data) != (kind == UNSEEN_BLANK) ||
		    pattern_matches(ignorable, c, data) !=
			    ((kind & hidden) != 0))
			fail_msg("U+%04X is of kind %u", c, kind);
	}
	pcre2_match_data_free(data);
	pcre2_code_free(control);
	pcre2_code_free(blank);
	pcre2_code_free(ignorable);
}

/* --- in texts ------------------------------------------------------------- */

static size_t find_invisible_character(const char *text, unsigned kinds,
				       enum unseen expected)
{
	enum unseen kind;
	size_t at = unseen_find(text, strlen(text), kinds, &kind);

	assert_int_equal(kind, expected);
	return at;
}

static void the_first_that_counts_is_found(void **state)
{
	(void)state;
	assert_int_equal(
		find_invisible_character("abc", UNSEEN_IN_URL, UNSEEN_NONE), 3);
	assert_int_equal(
		find_invisible_character("a b\n", UNSEEN_IN_URL, UNSEEN_BLANK),
		1);
	assert_int_equal(find_invisible_character("a b\n", UNSEEN_IN_TEXT,
						  UNSEEN_CONTROL),
			 3);
	assert_int_equal(find_invisible_character("\xc3\xbc\xe2\x80\x8f",
						  UNSEEN_IN_TEXT,
						  UNSEEN_FORMAT),
			 2);
	assert_int_equal(find_invisible_character("\xc2\x85", UNSEEN_IN_TEXT,
						  UNSEEN_CONTROL),
			 0);
	assert_int_equal(find_invisible_character("a\xff\n", UNSEEN_IN_TEXT,
						  UNSEEN_INVALID),
			 1);
	assert_int_equal(
		find_invisible_character("", UNSEEN_IN_TEXT, UNSEEN_NONE), 0);
}

static void a_text_may_have_blanks_and_joiners(void **state)
{
	static const char text[] = "\xd9\x85\xe2\x80\x8c\xe3\x80\x80 "
				   "\xe2\x9d\xa4\xef\xb8\x8f";

	(void)state;
	assert_int_equal(
		find_invisible_character(text, UNSEEN_IN_TEXT, UNSEEN_NONE),
		sizeof(text) - 1);
	assert_int_equal(
		find_invisible_character(text, UNSEEN_IN_URL, UNSEEN_JOINER),
		2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_kinds_are_those_of_unicode),
		cmocka_unit_test(the_first_that_counts_is_found),
		cmocka_unit_test(a_text_may_have_blanks_and_joiners),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
