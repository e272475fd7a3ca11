#include "tests/unit/unit.h"

#include <string.h>

#include "common/table.h"

/* Prints the table, compares the output, and frees the table. */
static void assert_prints(struct table *t, const char *expected)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	assert_int_equal(table_print(t, out), 0);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
	table_free(t);
}

static void columns_are_as_wide_as_their_widest_cell(void **state)
{
	struct table *t = table_new("space|>due|next");

	(void)state;
	table_text(t, "s7");
	table_number(t, 7);
	table_text(t, "-");
	table_text(t, "a-long-one");
	table_number(t, 12345);
	table_text(t, "soon");
	assert_prints(t, "space          due  next\n"
			 "s7               7  -\n"
			 "a-long-one  12,345  soon\n");
}

static void thousands_stand_apart(void **state)
{
	struct table *t = table_new(">n");

	(void)state;
	table_number(t, 0);
	table_number(t, 999);
	table_number(t, 1000);
	table_number(t, UINT64_MAX);
	assert_prints(t, "                         n\n"
			 "                         0\n"
			 "                       999\n"
			 "                     1,000\n"
			 "18,446,744,073,709,551,615\n");
}

static void a_decimal_has_one_digit_after_the_point(void **state)
{
	struct table *t = table_new(">s");

	(void)state;
	table_decimal(t, 2.96);
	assert_prints(t, "  s\n3.0\n");
}

static void a_table_without_rows_is_its_headings(void **state)
{
	(void)state;
	assert_prints(table_new("a|>b"), "a  b\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_are_as_wide_as_their_widest_cell),
		cmocka_unit_test(thousands_stand_apart),
		cmocka_unit_test(a_decimal_has_one_digit_after_the_point),
		cmocka_unit_test(a_table_without_rows_is_its_headings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
