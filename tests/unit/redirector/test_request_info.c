#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "redirector/visit/request_info.h"

static struct http_slice code_of(const char *path)
{
	return request_info_code((struct http_slice){path, strlen(path)});
}

static void a_path_of_code_characters_names_a_code(void **state)
{
	struct http_slice code = code_of("/aB3_-9k");

	(void)state;
	assert_int_equal(code.len, 7);
	assert_memory_equal(code.data, "aB3_-9k", 7);
}

static void rest_is(const char *path, const char *want)
{
	struct http_slice rest =
		request_info_rest((struct http_slice){path, strlen(path)});

	assert_int_equal(rest.len, strlen(want));
	assert_memory_equal(rest.data, want, rest.len);
}

static void what_follows_a_code_has_its_slash(void **state)
{
	(void)state;
	rest_is("/aB3", "");
	rest_is("/aB3/", "/");
	rest_is("/aB3/more/of/it", "/more/of/it");
	rest_is("/", "");
	rest_is("//", "/");
}

static void a_code_ends_at_a_slash(void **state)
{
	static const char *const paths[] = {"/abc/", "/abc/d/e", "/abc//"};

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		assert_int_equal(code_of(paths[i]).len, 3);
}

static void other_paths_name_none(void **state)
{
	static const char *const paths[] = {
		"",	   "/",	     "*",     "abc",	 "/a%41b",
		"/a.html", "/a\xc3", "//abc", "/../abc", "/a b",
	};
	char too_long[CLICK_CODE_MAX + 3];

	(void)state;
	memset(too_long, 'a', sizeof(too_long));
	too_long[0] = '/';
	too_long[sizeof(too_long) - 1] = '\0';
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		assert_null(code_of(paths[i]).data);
	assert_null(code_of(too_long).data);
	too_long[sizeof(too_long) - 2] = '\0';
	assert_int_equal(code_of(too_long).len, CLICK_CODE_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_of_code_characters_names_a_code),
		cmocka_unit_test(what_follows_a_code_has_its_slash),
		cmocka_unit_test(a_code_ends_at_a_slash),
		cmocka_unit_test(other_paths_name_none),
	};

	return cmocka_run_group_tests_name("request_info", tests, NULL, NULL);
}
