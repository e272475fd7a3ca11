#include "tests/unit/unit.h"

#include <string.h>

#include "common/http/url.h"

static struct http_slice slice_of(const char *text)
{
	return (struct http_slice){text, strlen(text)};
}

static void expect_param(const char *query, const char *key, const char *value)
{
	struct url_params params;
	struct error err;

	assert_int_equal(url_params_parse(&params, slice_of(query), &err), 0);
	assert_string_equal(url_param_get(&params, key), value);
	url_params_free(&params);
}

static void expect_bad(const char *query)
{
	struct url_params params;
	struct error err;

	assert_int_equal(url_params_parse(&params, slice_of(query), &err), -1);
	assert_int_equal(err.code, ERROR_INPUT);
	url_params_free(&params);
}

static void keys_and_values_are_decoded(void **state)
{
	(void)state;
	expect_param("a%20b=%C3%a9+x", "a b", "\xc3\xa9 x");
}

static void a_key_without_equals_is_empty(void **state)
{
	(void)state;
	expect_param("a=1&b&c=3", "b", "");
}

static void the_first_of_equal_keys_is_got(void **state)
{
	(void)state;
	expect_param("a=1&a=2", "a", "1");
}

static void an_equals_sign_may_be_in_a_value(void **state)
{
	(void)state;
	expect_param("a=b=c", "a", "b=c");
}

static void empty_pairs_are_skipped(void **state)
{
	struct url_params params;
	struct error err;

	(void)state;
	assert_int_equal(url_params_parse(&params, slice_of("&&a=1&"), &err),
			 0);
	assert_int_equal(params.count, 1);
	url_params_free(&params);
}

static void an_absent_key_is_null(void **state)
{
	struct url_params params;
	struct error err;

	(void)state;
	assert_int_equal(
		url_params_parse(&params, (struct http_slice){NULL, 0}, &err),
		0);
	assert_null(url_param_get(&params, "a"));
	url_params_free(&params);
}

static void bad_escapes_are_refused(void **state)
{
	(void)state;
	expect_bad("a=%");
	expect_bad("a=%2");
	expect_bad("a=%2g");
	expect_bad("%zz=1");
}

static void an_escaped_nul_is_refused(void **state)
{
	(void)state;
	expect_bad("a=b%00c");
}

static void many_parameters_are_refused(void **state)
{
	char query[65 * 2 + 1] = "";

	(void)state;
	for (int i = 0; i < 65; i++)
		strcat(query, "a&");
	expect_bad(query);
	query[64 * 2] = '\0';
	expect_param(query, "a", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_and_values_are_decoded),
		cmocka_unit_test(a_key_without_equals_is_empty),
		cmocka_unit_test(the_first_of_equal_keys_is_got),
		cmocka_unit_test(an_equals_sign_may_be_in_a_value),
		cmocka_unit_test(empty_pairs_are_skipped),
		cmocka_unit_test(an_absent_key_is_null),
		cmocka_unit_test(bad_escapes_are_refused),
		cmocka_unit_test(an_escaped_nul_is_refused),
		cmocka_unit_test(many_parameters_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
