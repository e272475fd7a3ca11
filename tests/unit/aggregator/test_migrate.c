#include "tests/unit/unit.h"

#include <string.h>

#include <glob.h>

#include "aggregator/migrate/migrations.h"
#include "aggregator/migrate/statement.h"

static void every_file_is_compiled_in_order(void **state)
{
	glob_t files;
	size_t n = 0;

	(void)state;
	assert_int_equal(glob("schemas/clickhouse/*.sql", 0, NULL, &files), 0);
	assert_int_equal(files.gl_pathc, migration_count);
	assert_string_equal(migrations[n++].name, "schema_migrations.sql");
	for (size_t i = 0; i < files.gl_pathc; i++) {
		const char *name = strrchr(files.gl_pathv[i], '/') + 1;

		if (strcmp(name, migrations[0].name))
			assert_string_equal(migrations[n++].name, name);
	}
	globfree(&files);
}

static void assert_statements(const char *sql, const char *const *expected)
{
	struct buf out = {0};
	size_t n = 0;

	while (statement_next(&sql, &out)) {
		assert_non_null(expected[n]);
		assert_string_equal(buf_cstr(&out), expected[n]);
		buf_reset(&out);
		n++;
	}
	assert_null(expected[n]);
	buf_free(&out);
}

static void comments_and_blanks_around_are_dropped(void **state)
{
	static const char *const expected[] = {"A", "B", NULL};

	(void)state;
	assert_statements("-- one; two\n A ;\n\n-- x\nB;\n-- end\n", expected);
}

static void a_semicolon_in_quotes_or_a_comment_ends_nothing(void **state)
{
	static const char *const expected[] = {
		"SELECT ';', `a;b`, '\\';' -- it's; here\n FROM t", NULL};

	(void)state;
	assert_statements("SELECT ';', `a;b`, '\\';' -- it's; here\n FROM t;",
			  expected);
}

static void a_last_statement_needs_no_semicolon(void **state)
{
	static const char *const expected[] = {"A", NULL};

	(void)state;
	assert_statements("A", expected);
}

static void nothing_has_no_statement(void **state)
{
	static const char *const expected[] = {NULL};

	(void)state;
	assert_statements("", expected);
	assert_statements("-- only this", expected);
	assert_statements("'", (const char *const[]){"'", NULL});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_file_is_compiled_in_order),
		cmocka_unit_test(comments_and_blanks_around_are_dropped),
		cmocka_unit_test(
			a_semicolon_in_quotes_or_a_comment_ends_nothing),
		cmocka_unit_test(a_last_statement_needs_no_semicolon),
		cmocka_unit_test(nothing_has_no_statement),
	};

	return cmocka_run_group_tests_name("migrate", tests, NULL, NULL);
}
