#include "tests/unit/unit.h"

#include "common/clickhouse/statement.h"

static const struct statement_blank blanks[] = {
	{"a", "one"}, {"ab", "two @a@"}, {"none", NULL}, {NULL, NULL}};

static void put_is(const char *text, const char *expected)
{
	struct buf sql = {0};

	buf_puts(&sql, "> ");
	statement_put(&sql, text, blanks);
	if (expected)
		assert_string_equal(buf_cstr(&sql), expected);
	else
		assert_null(buf_cstr(&sql));
	buf_free(&sql);
}

static void a_text_without_blanks_stays(void **state)
{
	(void)state;
	put_is("", "> ");
	put_is("SELECT '%s' {x:UInt8}", "> SELECT '%s' {x:UInt8}");
}

static void each_blank_is_filled(void **state)
{
	(void)state;
	put_is("@a@", "> one");
	put_is("x@a@y@a@@a@z", "> xoneyoneonez");
	put_is("(@none@)", "> ()");
}

static void a_name_is_compared_as_a_whole(void **state)
{
	(void)state;
	put_is("@ab@ @a@", "> two @a@ one");
	put_is("@non@", NULL);
	put_is("@nonee@", NULL);
}

static void a_blank_that_nothing_fills_is_no_statement(void **state)
{
	(void)state;
	put_is("@b@", NULL);
	put_is("@@", NULL);
	put_is("@a", NULL);
	put_is("@a@ @", NULL);
}

static void a_piece_without_memory_is_no_statement(void **state)
{
	struct buf sql = {0}, piece = {0};

	(void)state;
	buf_puts(&piece, "one");
	assert_string_equal(statement_piece(&sql, &piece), "one");
	assert_false(sql.failed);
	piece.failed = true;
	assert_null(statement_piece(&sql, &piece));
	assert_true(sql.failed);
	buf_free(&piece);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_without_blanks_stays),
		cmocka_unit_test(each_blank_is_filled),
		cmocka_unit_test(a_name_is_compared_as_a_whole),
		cmocka_unit_test(a_blank_that_nothing_fills_is_no_statement),
		cmocka_unit_test(a_piece_without_memory_is_no_statement),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
