#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "stack/clickhouse/failure.h"
#include "stack/clickhouse/statement.h"

static struct statement parse_sql(const char *text)
{
	struct error err = {0};
	struct statement st;

	assert_int_equal(statement_parse(&st, text, strlen(text), &err), 0);
	return st;
}

static int refusal_code(const char *text)
{
	struct error err = {0};
	struct statement st;

	assert_int_equal(statement_parse(&st, text, strlen(text), &err), -1);
	return failure_code_of(err.text);
}

static void assert_data(const char *text, const char *data)
{
	struct statement st = parse_sql(text);

	assert_true(st.has_data);
	assert_string_equal(text + st.data, data);
}

static void assert_insert_reads_file(const char *text, const char *sql)
{
	struct statement st = parse_sql(text);
	struct buf out = {0};

	statement_insert_from(&st, text, "/f", &out);
	assert_string_equal(buf_cstr(&out), sql);
	buf_free(&out);
}

static void data_starts_after_one_newline(void **state)
{
	(void)state;
	assert_data("INSERT INTO t FORMAT RowBinary\n\n\x01", "\n\x01");
	assert_data("INSERT INTO t FORMAT CSV \r\n1,2", "1,2");
}

static void data_on_the_line_of_the_format_starts_after_blanks(void **state)
{
	(void)state;
	assert_data("insert into t format CSV  1,2\n", "1,2\n");
}

static void values_are_data(void **state)
{
	(void)state;
	assert_data("INSERT INTO t (a, b) VALUES (1, 'FORMAT CSV')",
		    "(1, 'FORMAT CSV')");
	assert_string_equal(parse_sql("INSERT INTO t VALUES (1)").format,
			    "Values");
}

static void names_like_clauses_are_names(void **state)
{
	(void)state;
	assert_data("INSERT INTO format (values, select) FORMAT TSV\nx", "x");
	assert_data("INSERT INTO db.values FORMAT TSV\nx", "x");
	assert_data("INSERT INTO `a``b FORMAT TSV\n` FORMAT TSV\nx", "x");
}

static void comments_and_strings_hide_clauses(void **state)
{
	(void)state;
	assert_data("/* FORMAT A */ INSERT INTO t -- FORMAT B\n"
		    "SETTINGS insert_deduplication_token = 'FORMAT C\\'' "
		    "FORMAT D\nx",
		    "x");
}

static void an_insert_reads_a_file_named_before_its_clauses(void **state)
{
	(void)state;
	assert_insert_reads_file(
		"INSERT INTO t (a) SETTINGS x = 1 FORMAT CSV\n1",
		"INSERT INTO t (a)  FROM INFILE '/f' COMPRESSION 'none' "
		"SETTINGS x = 1  FORMAT CSV");
	assert_insert_reads_file(
		"INSERT INTO t VALUES (1)",
		"INSERT INTO t  FROM INFILE '/f' COMPRESSION 'none'  FORMAT "
		"Values");
}

static void an_insert_from_a_select_has_no_data(void **state)
{
	(void)state;
	assert_false(parse_sql("INSERT INTO t SELECT 1").has_data);
	assert_false(
		parse_sql("INSERT INTO t WITH x AS (SELECT 1) SELECT * FROM x")
			.has_data);
}

static void the_format_of_an_answer_is_its_last_clause(void **state)
{
	(void)state;
	assert_string_equal(parse_sql("SELECT 1 FORMAT JSON").format, "JSON");
	assert_string_equal(parse_sql("SELECT 1 FORMAT JSON ; ").format,
			    "JSON");
	assert_string_equal(
		parse_sql("SELECT 1 FORMAT CSV SETTINGS max_threads = 1")
			.format,
		"CSV");
	assert_string_equal(parse_sql("SELECT format x FROM t").format, "");
	assert_string_equal(parse_sql("SELECT (1 FORMAT CSV)").format, "");
}

static void several_statements_are_refused(void **state)
{
	(void)state;
	assert_int_equal(refusal_code("SELECT 1; SELECT 2"), 62);
	assert_string_equal(parse_sql("SELECT 1; -- the end").format, "");
}

static void nothing_is_a_syntax_error(void **state)
{
	(void)state;
	assert_int_equal(refusal_code(""), 62);
	assert_int_equal(refusal_code(" -- nothing\n"), 62);
}

static void files_of_the_server_are_refused(void **state)
{
	(void)state;
	assert_int_equal(
		refusal_code("INSERT INTO t FROM INFILE '/x' FORMAT CSV"), 78);
	assert_int_equal(refusal_code("SELECT 1 INTO OUTFILE '/x'"), 78);
}

static void data_for_input_is_refused(void **state)
{
	(void)state;
	assert_int_equal(
		refusal_code("INSERT INTO t SELECT a FROM input('a Int8') "
			     "FORMAT CSV\n1"),
		48);
}

static void unfinished_quotes_end_with_the_text(void **state)
{
	static const char *const texts[] = {"SELECT '",
					    "SELECT 'a\\",
					    "INSERT INTO `",
					    "SELECT $x$ a $x",
					    "/* ",
					    "INSERT INTO t FORMAT",
					    "INSERT INTO t VALUES",
					    "INSERT",
					    "SELECT ))))",
					    "SELECT (((("};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct error err = {0};
		struct statement st;

		statement_parse(&st, texts[i], strlen(texts[i]), &err);
		assert_true(st.data <= strlen(texts[i]));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(data_starts_after_one_newline),
		cmocka_unit_test(
			data_on_the_line_of_the_format_starts_after_blanks),
		cmocka_unit_test(values_are_data),
		cmocka_unit_test(names_like_clauses_are_names),
		cmocka_unit_test(comments_and_strings_hide_clauses),
		cmocka_unit_test(
			an_insert_reads_a_file_named_before_its_clauses),
		cmocka_unit_test(an_insert_from_a_select_has_no_data),
		cmocka_unit_test(the_format_of_an_answer_is_its_last_clause),
		cmocka_unit_test(several_statements_are_refused),
		cmocka_unit_test(nothing_is_a_syntax_error),
		cmocka_unit_test(files_of_the_server_are_refused),
		cmocka_unit_test(data_for_input_is_refused),
		cmocka_unit_test(unfinished_quotes_end_with_the_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
