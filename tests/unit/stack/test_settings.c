#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "stack/clickhouse/failure.h"
#include "stack/clickhouse/settings.h"

static struct url_params parse_query(const char *query)
{
	struct url_params params = {0};
	struct error err = {0};

	assert_int_equal(
		url_params_parse(&params,
				 (struct http_slice){query, strlen(query)},
				 &err),
		0);
	return params;
}

static void assert_set(const char *query, bool readonly, const char *sql)
{
	struct url_params params = parse_query(query);
	struct buf out = {0};
	struct error err = {0};

	assert_int_equal(settings_set(&params, 0, NULL, readonly, &out, &err),
			 0);
	assert_string_equal(buf_cstr(&out), sql);
	buf_free(&out);
	url_params_free(&params);
}

static void parameters_become_one_set(void **state)
{
	(void)state;
	assert_set("max_threads=2&async_insert=0", false,
		   "SET max_threads = '2', async_insert = '0'");
}

static void quotes_and_backslashes_cannot_end_a_value(void **state)
{
	(void)state;
	assert_set("a=x'%2C+b%3D1+--&c=%5C", false,
		   "SET a = 'x\\', b=1 --', c = '\\\\'");
}

static void parameters_of_the_interface_are_no_settings(void **state)
{
	(void)state;
	assert_set("query=SELECT+1&user=u&password=p&param_x=1&session_id=s",
		   false, "");
}

static void reading_is_enforced_last_and_cannot_be_lifted(void **state)
{
	(void)state;
	assert_set("max_threads=2", true,
		   "SET max_threads = '2', readonly = 2");
	assert_set("readonly=0", true, "SET readonly = '0', readonly = 2");
	assert_set("readonly=1", true, "SET readonly = '1'");
}

static void a_name_that_is_none_is_an_unknown_setting(void **state)
{
	static const char *const queries[] = {"a-b=1", "1a=1", "a%20b=1",
					      "a%3D1%2C+b=2"};

	(void)state;
	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
		struct url_params params = parse_query(queries[i]);
		struct buf out = {0};
		struct error err = {0};

		assert_int_equal(
			settings_set(&params, 0, NULL, false, &out, &err), -1);
		assert_int_equal(failure_code_of(err.text),
				 FAILURE_UNKNOWN_SETTING);
		buf_free(&out);
		url_params_free(&params);
	}
}

static void what_was_set_is_set_back(void **state)
{
	struct url_params params =
		parse_query("max_threads=2&query=x&readonly=1");
	struct buf out = {0};

	(void)state;
	settings_unset(&params, &out);
	assert_string_equal(buf_cstr(&out),
			    "SET max_threads = DEFAULT, readonly = DEFAULT");
	buf_free(&out);
	url_params_free(&params);
}

static void a_database_is_quoted(void **state)
{
	struct buf out = {0};
	struct error err = {0};

	(void)state;
	assert_int_equal(settings_use("a`b\\", &out, &err), 0);
	assert_string_equal(buf_cstr(&out), "USE `a\\`b\\\\`");
	buf_free(&out);
}

static void query_parameters_lose_their_prefix(void **state)
{
	struct url_params params = parse_query("param_x=1&y=2&param_z=it's");
	struct engine_params found;
	struct error err = {0};

	(void)state;
	assert_int_equal(settings_params(&params, &found, &err), 0);
	assert_int_equal(found.count, 2);
	assert_string_equal(found.names[1], "z");
	assert_string_equal(found.values[1], "it's");
	settings_params_free(&found);
	url_params_free(&params);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parameters_become_one_set),
		cmocka_unit_test(quotes_and_backslashes_cannot_end_a_value),
		cmocka_unit_test(parameters_of_the_interface_are_no_settings),
		cmocka_unit_test(reading_is_enforced_last_and_cannot_be_lifted),
		cmocka_unit_test(a_name_that_is_none_is_an_unknown_setting),
		cmocka_unit_test(what_was_set_is_set_back),
		cmocka_unit_test(a_database_is_quoted),
		cmocka_unit_test(query_parameters_lose_their_prefix),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
