/* The code in a path, also where a text program changed the path. */
#include "tests/unit/unit.h"

#include <string.h>

#include "codespace/path_code.h"

static struct http_slice slice_of(const char *text)
{
	return (struct http_slice){text, strlen(text)};
}

static void expect_code(const char *path, const char *want, bool trimmed)
{
	struct path_text_code text;

	if (!path_code_in_text(slice_of(path), true, &text))
		fail_msg("%s names no code", path);
	assert_int_equal(text.code.len, strlen(want));
	assert_memory_equal(text.code.data, want, text.code.len);
	assert_int_equal(text.trimmed, trimmed);
}

static void names_none(const char *path, bool trims)
{
	struct path_text_code text;

	if (path_code_in_text(slice_of(path), trims, &text))
		fail_msg("%s names %.*s", path, (int)text.code.len,
			 text.code.data);
}

static void escapes_of_code_characters_are_equal(void **state)
{
	(void)state;
	expect_code("/%74cz1U2D", "tcz1U2D", false);
	expect_code("/tcz1U2%44", "tcz1U2D", false);
	expect_code("/%61%2D%2d%5F%5fb%39", "a--__b9", false);
	expect_code("/%61bc/more", "abc", false);
	/* Escapes are decoded only once. */
	names_none("/%2561bc", true);
	names_none("/a%2562", true);
}

static void what_no_code_can_have_is_passed_over(void **state)
{
	static const char *const behind[] = {
		".",	     ")",    "),",	  ".)",		  "%20",
		"%E2%80%8B", "%22",  "'",	  "\"",		  ">",
		"&",	     "%3E.", "%E3%80%82", "%EF%BC%8C",	  "%C2%A0",
		"%0D%0A",    "%",    "%%",	  "%2F",	  ")/",
		"*",	     "~",    "!/..",	  "\xe3\x80\x82",
	};
	char path[64];

	(void)state;
	for (size_t i = 0; i < sizeof(behind) / sizeof(behind[0]); i++) {
		snprintf(path, sizeof(path), "/aB3%s", behind[i]);
		expect_code(path, "aB3", true);
		names_none(path, false);
	}
	expect_code("/%61B3).", "aB3", true);
}

static void what_a_code_can_have_is_not(void **state)
{
	static const char *const paths[] = {
		"/favicon.ico", "/robots.txt", "/x.css/y", "/a.b",
		"/aB3).More",	"/aB3%20x",    "/aB3.-",   "/aB3&x=1",
		"/aB3%2",	"/aB3%2Fmore", "/aB3%zz",  "/aB3.%41",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		names_none(paths[i], true);
}

static bool names_some(const char *path)
{
	struct path_text_code text;

	return path_code_in_text(slice_of(path), true, &text);
}

static void nothing_is_no_code(void **state)
{
	static const char *const paths[] = {"",	    "/",   "//",     "/.",
					    "/%2F", "/)",  "/..",    "aB3",
					    "*",    "/.a", "//aB3.", "/%C3%A4"};
	char longest[ALIAS_LENGTH_MAX + 4];

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		names_none(paths[i], true);
	memset(longest, 'a', sizeof(longest));
	longest[0] = '/';
	longest[ALIAS_LENGTH_MAX + 1] = '.';
	longest[ALIAS_LENGTH_MAX + 2] = '\0';
	assert_true(names_some(longest));
	memmove(longest + 2, longest + 1, ALIAS_LENGTH_MAX + 2);
	assert_false(names_some(longest));
}

static void expect_trims(const char *rest, bool want)
{
	assert_int_equal(path_code_trims(slice_of(rest)), want);
}

static void a_slash_alone_is_passed_over(void **state)
{
	(void)state;
	expect_trims("/", true);
	expect_trims("//", true);
	expect_trims("/).", true);
	expect_trims("/%E2%80%8B", true);
	expect_trims("/..", true);
	expect_trims("/more", false);
	expect_trims("/-", false);
	expect_trims("/%6Dore", false);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(escapes_of_code_characters_are_equal),
		cmocka_unit_test(what_no_code_can_have_is_passed_over),
		cmocka_unit_test(what_a_code_can_have_is_not),
		cmocka_unit_test(nothing_is_no_code),
		cmocka_unit_test(a_slash_alone_is_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
