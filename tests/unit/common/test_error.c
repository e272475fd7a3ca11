#include "tests/unit/unit.h"

#include <errno.h>
#include <string.h>
#include <sysexits.h>

static void wrap_keeps_the_code_and_adds_context(void **state)
{
	struct error err = {0};

	(void)state;
	error_set_retriable(&err, ERROR_REMOTE, "HTTP %d", 503);
	error_wrap(&err, "insert into %s", "clicks");
	assert_int_equal(err.code, ERROR_REMOTE);
	assert_true(err.retriable);
	assert_string_equal(err.text, "insert into clicks: HTTP 503");
}

static void errno_is_kept_and_named(void **state)
{
	struct error err = {0};

	(void)state;
	errno = ECONNREFUSED;
	assert_int_equal(error_set_errno(&err, "connect"), -1);
	assert_int_equal(err.sys, ECONNREFUSED);
	assert_true(err.retriable);
	assert_string_equal(err.text, "connect: Connection refused");
}

static void a_text_too_long_is_cut_not_overrun(void **state)
{
	struct error err = {0};
	char big[2000];

	(void)state;
	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	error_set(&err, ERROR_INPUT, "%s", big);
	error_wrap(&err, "line %d", 7);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	assert_memory_equal(err.text, "line 7: xxx", 11);
}

static void what_is_no_text_becomes_question_marks(void **state)
{
	struct error err = {0};

	(void)state;
	error_set(&err, ERROR_UNSAFE, "a member '%s'",
		  "\xff\x01 s\xc3\xbc\xc3\n");
	assert_string_equal(err.text, "a member '?? s\xc3\xbc?\?'");
	error_wrap(&err, "space\x1b[2J");
	assert_string_equal(err.text, "space?[2J: a member '?? s\xc3\xbc?\?'");
}

static void a_character_is_not_cut_in_two(void **state)
{
	struct error err = {0};
	char big[600];

	(void)state;
	for (size_t i = 0; i < sizeof(big) - 1; i++)
		big[i] = i % 2 ? '\xc3' : '\xbc';
	big[sizeof(big) - 1] = '\0';
	error_set(&err, ERROR_INPUT, "%s", big);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	assert_int_equal(err.text[0], '?');
	assert_memory_equal(err.text + 1, "\xc3\xbc", 2);
	error_set(&err, ERROR_INPUT, "%s", big + 1);
	assert_int_equal(err.text[sizeof(err.text) - 2], '?');
}

static void every_code_has_its_exit_status(void **state)
{
	static const struct {
		enum error_code code;
		bool retriable;
		int status;
	} cases[] = {
		{ERROR_NONE, false, EX_OK},
		{ERROR_CONFIG, false, EX_CONFIG},
		{ERROR_USAGE, false, EX_USAGE},
		{ERROR_BUSY, false, EX_TEMPFAIL},
		{ERROR_NOT_OWNER, false, EX_TEMPFAIL},
		{ERROR_EXHAUSTED, false, EX_TEMPFAIL},
		{ERROR_STOPPED, false, EX_TEMPFAIL},
		{ERROR_UNSAFE, false, EX_SOFTWARE},
		{ERROR_DAMAGED, false, EX_SOFTWARE},
		{ERROR_REMOTE, true, EX_TEMPFAIL},
		{ERROR_REMOTE, false, EX_UNAVAILABLE},
		{ERROR_SYSTEM, false, EX_OSERR},
		{ERROR_PROTOCOL, false, EX_DATAERR},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct error err = {.code = cases[i].code,
				    .retriable = cases[i].retriable};

		assert_int_equal(error_exit_status(&err), cases[i].status);
		assert_int_equal(error_needs_a_person(&err),
				 cases[i].status != EX_OK &&
					 cases[i].status != EX_TEMPFAIL);
	}
}

static void what_is_for_operators_is_kept_from_others(void **state)
{
	struct error err, copy;

	(void)state;
	error_set(&err, ERROR_REMOTE, "redis: ERR user_script:7");
	assert_string_equal(error_outside(&err), err.text);
	assert_int_equal(error_keep_inside(&err, "Redis refused"), -1);
	assert_string_equal(error_outside(&err), "Redis refused");
	error_wrap(&err, "space %s", "s7");
	copy = err;
	assert_string_equal(error_outside(&copy), "Redis refused");
	assert_non_null(strstr(copy.text, "space s7: redis: ERR"));
	error_set(&err, ERROR_INPUT, "too long");
	assert_string_equal(error_outside(&err), "too long");
}

static void a_wrong_field_is_named_until_another_error(void **state)
{
	struct error err = {0};
	char name[100];

	(void)state;
	assert_int_equal(error_set_field(&err, "tz", "no zone '%s'", "Mars"),
			 -1);
	assert_int_equal(err.code, ERROR_INPUT);
	assert_string_equal(err.field, "tz");
	assert_string_equal(err.text, "tz: no zone 'Mars'");
	error_wrap(&err, "line %d", 7);
	assert_string_equal(err.field, "tz");
	assert_int_equal(error_name_field(&err, "filters.tz"), -1);
	assert_string_equal(err.field, "filters.tz");
	assert_string_equal(err.text, "line 7: tz: no zone 'Mars'");
	error_set(&err, ERROR_INPUT, "empty");
	assert_string_equal(err.field, "");
	assert_int_equal(error_wrap_field(&err, "limit"), -1);
	assert_string_equal(err.field, "limit");
	assert_string_equal(err.text, "limit: empty");
	memset(name, 'n', sizeof(name));
	name[62] = '\xc3';
	name[99] = '\0';
	error_set_field(&err, name, "unknown");
	assert_int_equal(strlen(err.field), sizeof(err.field) - 1);
	assert_int_equal(err.field[62], '?');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrap_keeps_the_code_and_adds_context),
		cmocka_unit_test(errno_is_kept_and_named),
		cmocka_unit_test(a_text_too_long_is_cut_not_overrun),
		cmocka_unit_test(what_is_no_text_becomes_question_marks),
		cmocka_unit_test(a_character_is_not_cut_in_two),
		cmocka_unit_test(every_code_has_its_exit_status),
		cmocka_unit_test(what_is_for_operators_is_kept_from_others),
		cmocka_unit_test(a_wrong_field_is_named_until_another_error),
	};

	return cmocka_run_group_tests_name("error", tests, NULL, NULL);
}
