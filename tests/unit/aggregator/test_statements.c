/* Each file of aggregator/sql/ is a statement that ClickHouse can explain. */
#include "tests/unit/aggregator/settled.h"
#include "tests/unit/unit.h"

#include <glob.h>

static void read_file(const char *path, struct buf *ret)
{
	char text[8192];
	FILE *file = fopen(path, "r");
	size_t n;

	assert_non_null(file);
	n = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[n] = '\0';
	buf_puts(ret, text);
}

/* Returns a value of the type that follows the parameter's name. */
static const char *value_of(const char *type)
{
	if (!strncmp(type, "Array", 5))
		return "[]";
	return strncmp(type, "String", 6) ? "0" : "";
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

static void explain_file(struct settled *t, const char *path)
{
	struct clickhouse_param params[65];
	char names[64][64];
	struct buf text = {0}, sql = {0};
	struct error err = {0};
	char *format;

	read_file(path, &text);
	buf_printf(&sql, "EXPLAIN %s", select_of(buf_cstr(&text)));
	format = strstr(buf_cstr(&sql), "FORMAT TabSeparated");
	if (format)
		*format = '\0';
	add_params(sql.data, params, names, 64);
	if (clickhouse_query(t->server.ch, sql.data, params, NULL, &err) < 0)
		fail_msg("%s: %s", path, err.text);
	buf_free(&text);
	buf_free(&sql);
}

static void each_file_can_be_explained(void **state)
{
	glob_t files;

	assert_int_equal(glob("aggregator/sql/*.sql", 0, NULL, &files), 0);
	for (size_t i = 0; i < files.gl_pathc; i++)
		explain_file(*state, files.gl_pathv[i]);
	globfree(&files);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SETTLED_TEST(each_file_can_be_explained),
	};

	return cmocka_run_group_tests(tests, settled_open, settled_close);
}
