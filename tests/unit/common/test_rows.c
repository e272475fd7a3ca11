#include "tests/unit/unit.h"

#include <string.h>

#include "common/clickhouse/rows.h"

struct seen {
	char *names[4];
	size_t count;
	size_t stop_at; /* from 1; 0: never */
};

static int take_row_name(void *arg, char **fields, struct error *err)
{
	struct seen *s = arg;

	s->names[s->count++] = fields[1];
	if (s->count == s->stop_at)
		return error_set(err, ERROR_INPUT, "enough");
	return 0;
}

static int read_rows(const char *text, struct buf *answer, struct seen *s,
		     struct error *err)
{
	buf_puts(answer, text);
	return clickhouse_rows_of(answer, "ns", take_row_name, s, err);
}

static void fields_live_as_long_as_the_answer(void **state)
{
	struct buf answer = {0};
	struct seen s = {0};
	struct error err = {0};

	(void)state;
	assert_int_equal(read_rows("1\ta\\tb\n2\tc\n", &answer, &s, &err), 0);
	assert_int_equal(s.count, 2);
	assert_string_equal(s.names[0], "a\tb");
	assert_string_equal(s.names[1], "c");
	buf_free(&answer);
}

static void an_empty_answer_has_no_rows(void **state)
{
	struct buf answer = {0};
	struct seen s = {0};
	struct error err = {0};

	(void)state;
	assert_int_equal(read_rows("", &answer, &s, &err), 0);
	assert_int_equal(s.count, 0);
}

static void a_row_of_another_shape_is_named(void **state)
{
	static const char *const answers[] = {"1\ta\n2\n", "1\ta\n2\tb\tc\n"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct buf answer = {0};
		struct seen s = {0};
		struct error err = {0};

		assert_int_equal(read_rows(answers[i], &answer, &s, &err), -1);
		assert_int_equal(err.code, ERROR_PROTOCOL);
		assert_string_equal(err.text,
				    "ClickHouse: row 2 of the answer does not "
				    "have 2 columns");
		assert_int_equal(s.count, 1);
		buf_free(&answer);
	}
}

static int take_any(void *arg, char **fields, struct error *err)
{
	(void)arg;
	(void)fields;
	(void)err;
	return 0;
}

static int read_one(const char *columns, const char *text, struct error *err)
{
	struct buf answer = {0};
	int status;

	*err = (struct error){0};
	buf_puts(&answer, text);
	status = clickhouse_rows_of(&answer, columns, take_any, NULL, err);
	buf_free(&answer);
	return status;
}

/* A field that is not a number must not count as 0, which would mean that there
 * is nothing. */
static void what_is_no_number_is_named(void **state)
{
	static const char *const wrong[] = {
		"Code: 159. DB::Exception",
		"1.5",
		"-",
		"1 ",
		" 1",
		"0x1",
		"+1",
		"true",
		"1e3",
		"nan",
	};
	struct error err;
	char text[64];

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		snprintf(text, sizeof(text), "1\ta\n%s\tb\n", wrong[i]);
		assert_int_equal(read_one("ns", text, &err), -1);
		assert_int_equal(err.code, ERROR_PROTOCOL);
	}
	assert_int_equal(read_one("sn", "a\t1\nb\tc\n", &err), -1);
	assert_string_equal(err.text, "ClickHouse: row 2, column 2 of the "
				      "answer is 'c', not a number");
	assert_int_equal(read_one("d", "seconds\n", &err), -1);
	assert_int_equal(read_one("d", "1.5s\n", &err), -1);
	assert_int_equal(read_one("d", "\\N\n", &err), -1);
}

static void numbers_of_all_sizes_are_read(void **state)
{
	struct error err;

	(void)state;
	assert_int_equal(read_one("nnn",
				  "18446744073709551615\t"
				  "-9223372036854775808\t0\n",
				  &err),
			 0);
	assert_int_equal(read_one("n", "\\N\n", &err), 0);
	assert_int_equal(read_one("ddd", "1.5\t-3\t1e-7\n", &err), 0);
}

static void the_reader_ends_the_reading(void **state)
{
	struct buf answer = {0};
	struct seen s = {.stop_at = 1};
	struct error err = {0};

	(void)state;
	/* The second row has another shape, but is not read. */
	assert_int_equal(read_rows("1\ta\n2\n", &answer, &s, &err), -1);
	assert_string_equal(err.text, "enough");
	assert_int_equal(s.count, 1);
	buf_free(&answer);
}

static void an_answer_cut_for_memory_is_an_error(void **state)
{
	struct buf answer = {.failed = true};
	struct seen s = {0};
	struct error err = {0};

	(void)state;
	assert_int_equal(
		clickhouse_rows_of(&answer, "ns", take_row_name, &s, &err), -1);
	assert_int_equal(err.code, ERROR_NOMEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_live_as_long_as_the_answer),
		cmocka_unit_test(an_empty_answer_has_no_rows),
		cmocka_unit_test(a_row_of_another_shape_is_named),
		cmocka_unit_test(what_is_no_number_is_named),
		cmocka_unit_test(numbers_of_all_sizes_are_read),
		cmocka_unit_test(the_reader_ends_the_reading),
		cmocka_unit_test(an_answer_cut_for_memory_is_an_error),
	};

	return cmocka_run_group_tests_name("rows", tests, NULL, NULL);
}
