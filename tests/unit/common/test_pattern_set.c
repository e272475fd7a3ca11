#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/agent/pattern/automaton.h"
#include "common/agent/pattern/pattern_set.h"
#include "common/buf.h"

struct fixture {
	struct pattern_set *set;
	struct pattern_matcher *matcher;
};

static struct fixture make_matcher(const char *const *regexes, bool caseless)
{
	struct fixture f;
	struct error err = {0};

	f.set = pattern_set_new(true, &err);
	for (; *regexes; regexes++)
		assert_int_equal(
			pattern_set_add(f.set, *regexes, caseless, &err), 0);
	assert_int_equal(pattern_set_compile(f.set, true, &err), 0);
	f.matcher = pattern_matcher_new(f.set, &err);
	assert_non_null(f.matcher);
	return f;
}

static void drop_matcher(struct fixture *f)
{
	pattern_matcher_free(f->matcher);
	pattern_set_free(f->set);
}

static int find_first_match(struct fixture *f, const char *text)
{
	pattern_scan(f->matcher, text, strlen(text));
	return pattern_first(f->matcher, 0, pattern_set_count(f->set));
}

static void the_earliest_expression_wins(void **state)
{
	const char *regexes[] = {"zebra", "lion|tiger", "tiger", NULL};
	struct fixture f = make_matcher(regexes, false);

	(void)state;
	assert_int_equal(find_first_match(&f, "a tiger"), 1);
	assert_int_equal(find_first_match(&f, "a tiger and a zebra"), 0);
	assert_int_equal(find_first_match(&f, "a mouse"), -1);
	drop_matcher(&f);
}

static void lists_behind_one_another_are_asked_apart(void **state)
{
	const char *regexes[200] = {0};
	struct fixture f;

	(void)state;
	for (int i = 0; i < 199; i++)
		regexes[i] = i % 2 ? "odd" : "even";
	f = make_matcher(regexes, false);
	pattern_scan(f.matcher, "odd", 3);
	assert_int_equal(pattern_first(f.matcher, 0, 199), 1);
	assert_int_equal(pattern_first(f.matcher, 2, 199), 3);
	assert_int_equal(pattern_first(f.matcher, 64, 199), 65);
	assert_int_equal(pattern_first(f.matcher, 127, 128), 127);
	assert_int_equal(pattern_first(f.matcher, 128, 129), -1);
	assert_int_equal(pattern_first(f.matcher, 5, 5), -1);
	drop_matcher(&f);
}

static void case_matters_unless_told_otherwise(void **state)
{
	const char *regexes[] = {"Lion", NULL};
	struct fixture strict = make_matcher(regexes, false);
	struct fixture loose = make_matcher(regexes, true);

	(void)state;
	assert_int_equal(find_first_match(&strict, "a lion"), -1);
	assert_int_equal(find_first_match(&loose, "a LION"), 0);
	drop_matcher(&strict);
	drop_matcher(&loose);
}

static void an_expression_without_words_is_always_tried(void **state)
{
	const char *regexes[] = {"word", "^\\d+$", NULL};
	struct fixture f = make_matcher(regexes, false);

	(void)state;
	assert_int_equal(find_first_match(&f, "123"), 1);
	drop_matcher(&f);
}

static void groups_are_those_of_the_match(void **state)
{
	const char *regexes[] = {"(a)(b)(c)(d)", "x(\\d)?(y)", NULL};
	struct fixture f = make_matcher(regexes, false);
	const char *text = "xy";

	(void)state;
	assert_int_equal(find_first_match(&f, "abcd"), 0);
	assert_int_equal(find_first_match(&f, text), 1);
	assert_int_equal(pattern_group(f.matcher, 1).len, 0);
	assert_int_equal(pattern_group(f.matcher, 2).len, 1);
	assert_null(pattern_group(f.matcher, 3).text);
	assert_null(pattern_group(f.matcher, 99).text);
	drop_matcher(&f);
}

static void a_text_with_zeros_is_a_text(void **state)
{
	const char *regexes[] = {"lion", NULL};
	struct fixture f = make_matcher(regexes, false);

	(void)state;
	pattern_scan(f.matcher, "\0\0lion", 6);
	assert_int_equal(pattern_first(f.matcher, 0, 1), 0);
	pattern_scan(f.matcher, NULL, 0);
	assert_int_equal(pattern_first(f.matcher, 0, 1), -1);
	drop_matcher(&f);
}

static void a_match_that_would_not_end_is_given_up(void **state)
{
	const char *regexes[] = {"^(a+)+$", "b", NULL};
	struct fixture f = make_matcher(regexes, false);

	(void)state;
	assert_int_equal(
		find_first_match(&f, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"),
		1);
	drop_matcher(&f);
}

static void a_bad_expression_says_where(void **state)
{
	struct error err = {0};
	struct pattern_set *set = pattern_set_new(true, &err);

	(void)state;
	assert_int_equal(pattern_set_add(set, "a(b", false, &err), -1);
	assert_int_equal(err.code, ERROR_INPUT);
	assert_non_null(strstr(err.text, "a(b: at character 3"));
	pattern_set_free(set);
}

static void collect_values(void *arg, const uint32_t *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		buf_printf(arg, "%u ", values[i]);
}

static void words_inside_and_across_words_are_found(void **state)
{
	const struct automaton_word words[] = {
		{"she", 3, 1}, {"he", 2, 2}, {"hers", 4, 3},
		{"his", 3, 4}, {"he", 2, 5},
	};
	struct error err = {0};
	struct buf found = {0};
	struct automaton *a = automaton_new(words, 5, &err);

	(void)state;
	automaton_scan(a, "usHErs hi", 9, collect_values, &found);
	assert_string_equal(buf_cstr(&found), "1 2 5 3 ");
	buf_free(&found);
	automaton_free(a);
}

static void no_words_find_nothing(void **state)
{
	struct error err = {0};
	struct buf found = {0};
	struct automaton *a = automaton_new(NULL, 0, &err);

	(void)state;
	automaton_scan(a, "text", 4, collect_values, &found);
	assert_int_equal(found.len, 0);
	automaton_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_earliest_expression_wins),
		cmocka_unit_test(lists_behind_one_another_are_asked_apart),
		cmocka_unit_test(case_matters_unless_told_otherwise),
		cmocka_unit_test(an_expression_without_words_is_always_tried),
		cmocka_unit_test(groups_are_those_of_the_match),
		cmocka_unit_test(a_text_with_zeros_is_a_text),
		cmocka_unit_test(a_match_that_would_not_end_is_given_up),
		cmocka_unit_test(a_bad_expression_says_where),
		cmocka_unit_test(words_inside_and_across_words_are_found),
		cmocka_unit_test(no_words_find_nothing),
	};

	return cmocka_run_group_tests_name("pattern_set", tests, NULL, NULL);
}
