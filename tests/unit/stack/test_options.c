#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "stack/clickhouse/options.h"

static int parse_arguments(struct options *o, const char *a, const char *b,
			   struct error *err)
{
	char program[] = "p", first[64] = "", second[64] = "";
	char *argv[] = {program, first, second, NULL};
	enum options_action action;

	if (a)
		strcpy(first, a);
	if (b)
		strcpy(second, b);
	*err = (struct error){0};
	return options_parse(o, 1 + (a != NULL) + (b != NULL), argv, &action,
			     err);
}

static void without_options_the_defaults_hold(void **state)
{
	struct options o;
	struct error err;

	(void)state;
	assert_int_equal(parse_arguments(&o, NULL, NULL, &err), 0);
	assert_string_equal(o.listen, "127.0.0.1:8123");
	assert_int_equal(o.max_body, 256 << 20);
	assert_null(o.password_file);
}

static void a_value_may_follow_a_space_or_an_equals_sign(void **state)
{
	struct options o;
	struct error err;

	(void)state;
	assert_int_equal(parse_arguments(&o, "--threads", "7", &err), 0);
	assert_int_equal(o.threads, 7);
	assert_int_equal(parse_arguments(&o, "--threads=9", NULL, &err), 0);
	assert_int_equal(o.threads, 9);
}

static void sizes_take_units(void **state)
{
	struct options o;
	struct error err;

	(void)state;
	assert_int_equal(parse_arguments(&o, "--max-body=64K", NULL, &err), 0);
	assert_int_equal(o.max_body, 65536);
	assert_int_equal(parse_arguments(&o, "--max-result=2G", NULL, &err), 0);
	assert_int_equal(o.max_result, INT64_C(2) << 30);
}

static void what_makes_no_sense_is_a_usage_error(void **state)
{
	static const char *const wrong[] = {
		"--nope=1",
		"threads=1",
		"--threads=0",
		"--threads=x",
		"--threads=",
		"--threads=2K",
		"--max-body=1T",
		"--max-body=-1K",
		"--max-body=KK",
		"--log-format=xml",
		"--path=",
		"--threads",
		"--max-body=9999999999999999999",
		"--max-body=9999999999G",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct options o;
		struct error err;

		assert_int_equal(parse_arguments(&o, wrong[i], NULL, &err), -1);
		assert_int_equal(err.code, ERROR_USAGE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_options_the_defaults_hold),
		cmocka_unit_test(a_value_may_follow_a_space_or_an_equals_sign),
		cmocka_unit_test(sizes_take_units),
		cmocka_unit_test(what_makes_no_sense_is_a_usage_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
