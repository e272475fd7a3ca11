/* Each file of aggregator/sql/ is a statement that ClickHouse can explain, if
 * its blanks are filled with what its first lines say; those of conditions/ are
 * about rows of the table that they are named after, those of expressions/ are
 * values.
 */
#include "tests/unit/aggregator/settled.h"
#include "tests/unit/unit.h"

#include "common/clickhouse/statement.h"
#include "schemas/ingest_progress.h"

#include <glob.h>

/* --- files ----------------------------------------------------------------
 */

#define BLANKS_MAX 32

/* A statement, and what its blanks may be filled with: lines of the file and
 * of its parts, "-- @name@: SQL", or "-- @name@: include FILE" for a part. */
struct statement {
	struct buf text;
	struct statement_blank blanks[BLANKS_MAX + 1];
	struct buf fillings[BLANKS_MAX];
	char names[BLANKS_MAX][64];
	size_t count;
};

static bool has_blank(const struct statement *s, const char *name)
{
	for (size_t i = 0; i < s->count; i++)
		if (!strcmp(s->names[i], name))
			return true;
	return false;
}

static void read_file(const char *path, struct statement *s, struct buf *ret);

/* Two parts may have the same blank. */
static void add_blank(struct statement *ret, char *line)
{
	static const char include[] = "include ";
	char *sql = strstr(line, "@: ");
	struct buf *filling = &ret->fillings[ret->count];

	assert_non_null(sql);
	*sql = '\0';
	sql += 3;
	if (has_blank(ret, line))
		return;
	assert_in_range(ret->count, 0, BLANKS_MAX - 1);
	assert_in_range(strlen(line), 1, sizeof(ret->names[0]) - 1);
	strcpy(ret->names[ret->count++], line);
	if (!strncmp(sql, include, strlen(include)))
		read_file(sql + strlen(include), ret, filling);
	else
		buf_puts(filling, sql);
}

/* Appends the file, with the parts that it includes. */
static void read_file(const char *path, struct statement *s, struct buf *ret)
{
	static const char include[] = "-- include: ", blank[] = "-- @";
	char line[512];
	FILE *file = fopen(path, "r");

	if (!file)
		fail_msg("%s: cannot be read", path);
	while (fgets(line, sizeof(line), file)) {
		char *text = line + strspn(line, " ");
		bool is_include = !strncmp(text, include, strlen(include));
		bool is_blank = !strncmp(text, blank, strlen(blank));

		if (!is_include && !is_blank) {
			buf_puts(ret, line);
			continue;
		}
		line[strcspn(line, "\n")] = '\0';
		if (is_include)
			read_file(text + strlen(include), s, ret);
		else
			add_blank(s, text + strlen(blank));
	}
	fclose(file);
}

static void read_statement(const char *path, struct statement *ret)
{
	read_file(path, ret, &ret->text);
	for (size_t i = 0; i < ret->count; i++)
		ret->blanks[i] = (struct statement_blank){
			ret->names[i], buf_cstr(&ret->fillings[i])};
}

static void statement_release(struct statement *s)
{
	for (size_t i = 0; i < s->count; i++)
		buf_free(&s->fillings[i]);
	buf_free(&s->text);
}

/* --- explaining -----------------------------------------------------------
 */

/* Returns a value of the type that follows the parameter's name. */
static const char *value_of(const char *type)
{
	if (!strncmp(type, "Array", 5))
		return "[]";
	return strncmp(type, "String", 6) ? "1" : "";
}

/* Adds the parameters that the statement names: {start:UInt32}. */
static void add_params(const char *sql, struct clickhouse_param *params,
		       char names[][64], size_t most)
{
	size_t count = 0;

	while ((sql = strchr(sql, '{')) && count < most) {
		size_t len = strcspn(++sql, ":");

		snprintf(names[count], 64, "param_%.*s", (int)len, sql);
		params[count] = (struct clickhouse_param){
			names[count], value_of(sql + len + 1)};
		count++;
	}
	params[count] = (struct clickhouse_param){NULL, NULL};
}

/* ClickHouse explains no INSERT, but what it inserts. */
static const char *select_of(const char *sql)
{
	const char *select = strstr(sql, "\nSELECT");

	return strncmp(sql, "INSERT", 6) || !select ? sql : select;
}

/* ClickHouse explains only the syntax of an ALTER. */
static const char *how_explained(const char *sql)
{
	return strncmp(sql, "ALTER", 5) ? "" : "AST ";
}

static void explain_statement(struct settled *t, const char *path,
			      const char *text)
{
	struct clickhouse_param params[65];
	char names[64][64];
	struct buf sql = {0};
	struct error err = {0};
	char *format;

	buf_printf(&sql, "EXPLAIN %s%s", how_explained(text), select_of(text));
	format = strstr(buf_cstr(&sql), "FORMAT TabSeparated");
	if (format)
		*format = '\0';
	add_params(sql.data, params, names, 64);
	if (clickhouse_query(t->server.ch, sql.data, params, NULL, &err) < 0)
		fail_msg("%s: %s", path, err.text);
	buf_free(&sql);
}

/* A text that fills a blank may have blanks itself. */
static void fill_blanks(const char *path, struct statement *s)
{
	while (strchr(buf_cstr(&s->text), '@')) {
		struct buf sql = {0};

		statement_put(&sql, s->text.data, s->blanks);
		if (!buf_cstr(&sql))
			fail_msg("%s: a blank has no line \"-- @name@: SQL\"",
				 path);
		buf_free(&s->text);
		s->text = sql;
	}
}

static void explain_filled(struct settled *t, const char *path,
			   struct statement *statement)
{
	fill_blanks(path, statement);
	explain_statement(t, path, buf_cstr(&statement->text));
}

static void explain_file(struct settled *t, const char *path)
{
	struct statement statement = {0};

	read_statement(path, &statement);
	explain_filled(t, path, &statement);
	statement_release(&statement);
}

static void explain_condition(struct settled *t, const char *path)
{
	const char *name = strrchr(path, '/') + 1;
	struct statement statement = {0};

	buf_printf(&statement.text, "SELECT 1 FROM %.*s WHERE ",
		   (int)strcspn(name, "."), name);
	read_statement(path, &statement);
	explain_filled(t, path, &statement);
	statement_release(&statement);
}

static void explain_expression(struct settled *t, const char *path)
{
	struct statement statement = {0};

	buf_puts(&statement.text, "SELECT ");
	read_statement(path, &statement);
	explain_filled(t, path, &statement);
	statement_release(&statement);
}

static void for_each_file(struct settled *t, const char *pattern,
			  void (*fn)(struct settled *t, const char *path))
{
	glob_t files;

	assert_int_equal(glob(pattern, 0, NULL, &files), 0);
	for (size_t i = 0; i < files.gl_pathc; i++)
		fn(t, files.gl_pathv[i]);
	globfree(&files);
}

static void each_statement_can_be_explained(void **state)
{
	for_each_file(*state, "aggregator/sql/*.sql", explain_file);
}

static void each_condition_can_be_explained(void **state)
{
	for_each_file(*state, "aggregator/sql/conditions/*.sql",
		      explain_condition);
}

static void each_expression_can_be_explained(void **state)
{
	for_each_file(*state, "aggregator/sql/expressions/*.sql",
		      explain_expression);
}

/* --- a text that the collector has, too ---------------------------------- */

static void put_without_blanks(struct buf *ret, const char *text)
{
	for (; *text; text++)
		if (!strchr(" \n", *text))
			buf_putc(ret, *text);
}

static bool has_text(const char *squeezed, const char *text)
{
	struct buf part = {0};
	bool has;

	put_without_blanks(&part, text);
	has = strstr(squeezed, buf_cstr(&part)) != NULL;
	buf_free(&part);
	return has;
}

static void compare_stream(struct settled *t, const char *path)
{
	struct statement statement = {0};
	struct buf squeezed = {0};

	(void)t;
	read_statement(path, &statement);
	put_without_blanks(&squeezed, buf_cstr(&statement.text));
	assert_non_null(buf_cstr(&squeezed));
	if (has_text(squeezed.data, "topic != 'rescore'") &&
	    !has_text(squeezed.data, PROGRESS_IS_STREAM))
		fail_msg("%s: not as in C: %s", path, PROGRESS_IS_STREAM);
	statement_release(&statement);
	buf_free(&squeezed);
}

static void streams_are_told_as_the_collector_does(void **state)
{
	for_each_file(*state, "aggregator/sql/*.sql", compare_stream);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SETTLED_TEST(each_statement_can_be_explained),
		SETTLED_TEST(each_condition_can_be_explained),
		SETTLED_TEST(each_expression_can_be_explained),
		SETTLED_TEST(streams_are_told_as_the_collector_does),
	};

	return cmocka_run_group_tests(tests, settled_open, settled_close);
}
