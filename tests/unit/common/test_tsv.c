#include "tests/unit/unit.h"

#include <string.h>

#include "common/clickhouse/tsv.h"

static struct buf buf_of_text(const char *t)
{
	struct buf b = {0};

	buf_puts(&b, t);
	return b;
}

static void rows_are_taken_one_by_one(void **state)
{
	struct buf b = buf_of_text("1\ta\n2\tb\n");
	struct tsv t = tsv_rows(&b);
	char *f[2];

	(void)state;
	assert_true(tsv_next(&t, f, 2));
	assert_int_equal(tsv_u64(f[0]), 1);
	assert_string_equal(f[1], "a");
	assert_true(tsv_next(&t, f, 2));
	assert_string_equal(f[1], "b");
	assert_false(tsv_next(&t, f, 2));
	assert_false(t.bad);
	buf_free(&b);
}

static void escapes_are_undone(void **state)
{
	struct buf b = buf_of_text("a\\tb\\\\c\\nd\\'\n");
	struct tsv t = tsv_rows(&b);
	char *f[1];

	(void)state;
	assert_true(tsv_next(&t, f, 1));
	assert_string_equal(f[0], "a\tb\\c\nd'");
	buf_free(&b);
}

static void null_and_empty_read_as_empty(void **state)
{
	struct buf b = buf_of_text("\\N\t\n");
	struct tsv t = tsv_rows(&b);
	char *f[2];

	(void)state;
	assert_true(tsv_next(&t, f, 2));
	assert_string_equal(f[0], "");
	assert_string_equal(f[1], "");
	buf_free(&b);
}

static void a_last_line_without_newline_is_a_row(void **state)
{
	struct buf b = buf_of_text("7");
	struct tsv t = tsv_rows(&b);
	char *f[1];

	(void)state;
	assert_true(tsv_next(&t, f, 1));
	assert_string_equal(f[0], "7");
	buf_free(&b);
}

static void a_row_of_another_shape_is_bad(void **state)
{
	static const char *const rows[] = {"a\n", "a\tb\tc\n", "\n"};
	char *f[2];

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct buf b = buf_of_text(rows[i]);
		struct tsv t = tsv_rows(&b);

		assert_false(tsv_next(&t, f, 2));
		assert_true(t.bad);
		buf_free(&b);
	}
}

static void no_answer_has_no_rows(void **state)
{
	struct buf b = {0};
	struct tsv t = tsv_rows(&b);
	char *f[1];

	(void)state;
	assert_false(tsv_next(&t, f, 1));
	assert_false(t.bad);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_taken_one_by_one),
		cmocka_unit_test(escapes_are_undone),
		cmocka_unit_test(null_and_empty_read_as_empty),
		cmocka_unit_test(a_last_line_without_newline_is_a_row),
		cmocka_unit_test(a_row_of_another_shape_is_bad),
		cmocka_unit_test(no_answer_has_no_rows),
	};

	return cmocka_run_group_tests_name("tsv", tests, NULL, NULL);
}
