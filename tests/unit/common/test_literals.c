#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/agent/pattern/literals.h"
#include "common/buf.h"

/* Compares the clauses of an expression, written "a|b & c". */
static void assert_required_beside(const char *common, const char *regex,
				   const char *expected)
{
	struct arena arena = {0};
	struct buf text = {0};
	struct literals l = literals_required(regex, common, &arena);

	for (size_t c = 0; c < l.count; c++) {
		buf_puts(&text, c ? " & " : "");
		for (size_t i = 0; i < l.clauses[c].count; i++) {
			buf_puts(&text, i ? "|" : "");
			buf_append(&text, l.clauses[c].items[i].text,
				   l.clauses[c].items[i].len);
		}
	}
	assert_string_equal(buf_cstr(&text), expected);
	buf_free(&text);
	arena_free(&arena);
}

static void assert_required(const char *regex, const char *expected)
{
	assert_required_beside("", regex, expected);
}

static void a_plain_word_is_required(void **state)
{
	(void)state;
	assert_required("Firefox", "firefox");
}

static void an_optional_part_is_not_required(void **state)
{
	(void)state;
	assert_required("abc(?:def)?", "abc|abcdef");
	assert_required("abc(def|)", "abcdef|abc");
	assert_required("abc.*(?:\\d+def)?", "abc");
	assert_required("abcd*", "abc");
}

static void an_alternation_requires_one_of_its_words(void **state)
{
	(void)state;
	assert_required("x(?:cat|dog) y", "xcat y|xdog y");
}

static void an_alternative_without_a_word_frees_the_others(void **state)
{
	(void)state;
	assert_required("(?:cat|\\d+)", "");
}

static void words_apart_are_all_required(void **state)
{
	(void)state;
	assert_required("Android.*Build/(\\d+)", "android & build/");
}

static void a_small_class_multiplies(void **state)
{
	(void)state;
	assert_required("[Bb]ot[ /]", "bot |bot/");
}

static void a_large_or_negated_class_is_unknown(void **state)
{
	(void)state;
	assert_required("ab[a-z]cd", "ab & cd");
	assert_required("ab[^x]cd", "ab & cd");
}

static void a_bracket_first_in_a_class_is_a_member(void **state)
{
	(void)state;
	assert_required("ab[]x]cd", "ab]cd|abxcd");
}

static void assertions_match_nothing_by_themselves(void **state)
{
	(void)state;
	assert_required("^foo(?!bar)\\b$", "foo");
	assert_required("foo(?=bar)", "foo");
	assert_required("(?<!abc)foo", "foo");
}

/* The text is on the heap, so that a sanitizer reports a read beyond its end.
 */
static void a_brace_that_does_not_close_is_text(void **state)
{
	char *regex = strdup("ab{2,44444444444444444444");

	(void)state;
	assert_non_null(regex);
	assert_required(regex, "ab{2,44444444444444444444");
	free(regex);
}

static void a_repeated_group_is_required_once(void **state)
{
	(void)state;
	assert_required("(?:abc){2,5}", "abc");
	assert_required("(?:abc){0,5}xyz", "xyz");
	assert_required("(?:abc){2}", "abcabc");
	assert_required("x{1,2}y", "xy|xxy");
	assert_required("a {0,2}b", "ab|a b|a  b");
	assert_required("(?:abc)+", "abc");
}

static void a_brace_that_is_no_quantifier_is_a_brace(void **state)
{
	(void)state;
	assert_required("a{x}", "a{x}");
}

static void escapes_of_signs_stand_for_the_signs(void **state)
{
	(void)state;
	assert_required("a\\.b\\/c", "a.b/c");
}

static void a_rare_word_goes_before_a_common_one(void **state)
{
	(void)state;
	assert_required_beside("a linux machine", "(?:Linux.*abc|xyz)",
			       "abc|xyz");
	assert_required_beside("", "(?:Linux.*abc|xyz)", "linux|xyz");
	assert_required_beside("a linux machine", "Linux.*abc", "abc");
	assert_required_beside("a linux machine", "Linux.*chin", "linux");
}

static void what_is_not_understood_requires_nothing(void **state)
{
	(void)state;
	assert_required("(?i)abc", "");
	assert_required("(abc)\\1", "");
	assert_required("\\Qabc\\E", "");
	assert_required("[[:alpha:]]abc", "");
	assert_required("abc\\x41", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plain_word_is_required),
		cmocka_unit_test(an_optional_part_is_not_required),
		cmocka_unit_test(an_alternation_requires_one_of_its_words),
		cmocka_unit_test(
			an_alternative_without_a_word_frees_the_others),
		cmocka_unit_test(words_apart_are_all_required),
		cmocka_unit_test(a_small_class_multiplies),
		cmocka_unit_test(a_large_or_negated_class_is_unknown),
		cmocka_unit_test(a_bracket_first_in_a_class_is_a_member),
		cmocka_unit_test(assertions_match_nothing_by_themselves),
		cmocka_unit_test(a_brace_that_does_not_close_is_text),
		cmocka_unit_test(a_repeated_group_is_required_once),
		cmocka_unit_test(a_brace_that_is_no_quantifier_is_a_brace),
		cmocka_unit_test(escapes_of_signs_stand_for_the_signs),
		cmocka_unit_test(a_rare_word_goes_before_a_common_one),
		cmocka_unit_test(what_is_not_understood_requires_nothing),
	};

	return cmocka_run_group_tests_name("literals", tests, NULL, NULL);
}
