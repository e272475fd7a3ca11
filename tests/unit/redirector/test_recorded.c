#include "tests/unit/unit.h"

#include <string.h>

#include "redirector/visit/recorded.h"

static int check_cookie_names(char **names, size_t count, struct error *err)
{
	const struct redirector_settings s = {.record_cookies = {names, count}};

	return recorded_check(&s, err);
}

static void is_refused(char **names, size_t count, const char *why)
{
	struct error err = {0};

	assert_int_equal(check_cookie_names(names, count, &err), -1);
	assert_int_equal(err.code, ERROR_CONFIG);
	assert_string_equal(err.text, why);
}

static void names_are_tokens(void **state)
{
	char session[] = "session", odd[] = "__Host-a.b!#$%&'*+^_`|~9";
	char *good[] = {session, odd};
	char empty[] = "", space[] = "a b", equals[] = "a=b",
	     umlaut[] = "\xc3\xbc";
	char *bad[] = {session, equals};
	struct error err = {0};

	(void)state;
	assert_int_equal(check_cookie_names(good, 2, &err), 0);
	assert_int_equal(check_cookie_names(NULL, 0, &err), 0);
	is_refused(bad, 2,
		   "redirector.record_cookies: 'a=b' is not a cookie's name "
		   "of 1 to 64 characters");
	bad[1] = empty;
	assert_int_equal(check_cookie_names(bad, 2, &err), -1);
	bad[1] = space;
	assert_int_equal(check_cookie_names(bad, 2, &err), -1);
	bad[1] = umlaut;
	assert_int_equal(check_cookie_names(bad, 2, &err), -1);
}

static void a_name_is_not_too_long(void **state)
{
	char name[66], *names[] = {name};
	struct error err = {0};

	(void)state;
	memset(name, 'a', sizeof(name));
	name[64] = '\0';
	assert_int_equal(check_cookie_names(names, 1, &err), 0);
	name[64] = 'a';
	name[65] = '\0';
	assert_int_equal(check_cookie_names(names, 1, &err), -1);
}

static void a_name_is_there_once(void **state)
{
	char a[] = "a", b[] = "A", c[] = "a", *names[] = {a, b, c};
	struct error err = {0};

	(void)state;
	assert_int_equal(check_cookie_names(names, 2, &err), 0);
	is_refused(names, 3, "redirector.record_cookies: 'a' is there twice");
}

static void there_are_at_most_eight(void **state)
{
	char texts[9][2], *names[9];
	struct error err = {0};

	(void)state;
	for (int i = 0; i < 9; i++) {
		texts[i][0] = (char)('a' + i);
		texts[i][1] = '\0';
		names[i] = texts[i];
	}
	assert_int_equal(check_cookie_names(names, 8, &err), 0);
	is_refused(names, 9,
		   "redirector.record_cookies: 9 names, at most 8 are "
		   "recorded");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_tokens),
		cmocka_unit_test(a_name_is_not_too_long),
		cmocka_unit_test(a_name_is_there_once),
		cmocka_unit_test(there_are_at_most_eight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
