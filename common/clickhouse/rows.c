#include "common/clickhouse/rows.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Returns true for a whole number that tsv_u64 or tsv_i64 can read. */
static bool is_whole(const char *field)
{
	const char *digits = field + (*field == '-');

	if (!*field)
		return true; /* NULL */
	return *digits && !digits[strspn(digits, "0123456789")];
}

static bool is_decimal(const char *field)
{
	char *end;

	strtod(field, &end);
	return end != field && !*end;
}

static bool field_fits_column(char column, const char *field)
{
	return column == 's' ||
	       (column == 'n' ? is_whole(field) : is_decimal(field));
}

static int check_fields(const char *columns, char **fields, size_t row,
			struct error *err)
{
	for (size_t i = 0; columns[i]; i++)
		if (!field_fits_column(columns[i], fields[i]))
			return error_set(err, ERROR_PROTOCOL,
					 "ClickHouse: row %zu, column %zu of "
					 "the answer is '%.60s', not a number",
					 row, i + 1, fields[i]);
	return 0;
}

int clickhouse_rows_of(struct buf *answer, const char *columns,
		       clickhouse_row_fn *fn, void *arg, struct error *err)
{
	char *fields[CLICKHOUSE_FIELDS_MAX];
	struct tsv rows = tsv_rows(answer);
	size_t row = 1, count = strlen(columns);
	int status = 0;

	if (answer->failed)
		return error_set_nomem(err);
	for (; status == 0 && tsv_next(&rows, fields, count); row++) {
		status = check_fields(columns, fields, row, err);
		if (status == 0)
			status = fn(arg, fields, err);
	}
	if (status == 0 && rows.bad)
		status = error_set(err, ERROR_PROTOCOL,
				   "ClickHouse: row %zu of the answer does not "
				   "have %zu columns",
				   row, count);
	return status;
}

int clickhouse_rows(struct clickhouse *ch, const char *sql,
		    const struct clickhouse_param *params, const char *columns,
		    clickhouse_row_fn *fn, void *arg, struct error *err)
{
	struct buf answer = {0};
	int status = clickhouse_query(ch, sql, params, &answer, err);

	if (status == 0)
		status = clickhouse_rows_of(&answer, columns, fn, arg, err);
	buf_free(&answer);
	return status;
}

struct one_row {
	clickhouse_row_fn *fn;
	void *arg;
	bool read;
};

static int read_one(void *arg, char **fields, struct error *err)
{
	struct one_row *one = arg;

	if (one->read)
		return error_set(err, ERROR_PROTOCOL,
				 "ClickHouse: more than one row");
	one->read = true;
	return one->fn(one->arg, fields, err);
}

int clickhouse_row(struct clickhouse *ch, const char *sql,
		   const struct clickhouse_param *params, const char *columns,
		   clickhouse_row_fn *fn, void *arg, struct error *err)
{
	struct one_row one = {fn, arg, false};

	if (clickhouse_rows(ch, sql, params, columns, read_one, &one, err) < 0)
		return -1;
	if (!one.read)
		return error_set(err, ERROR_PROTOCOL,
				 "ClickHouse: an answer without a row");
	return 0;
}

const char *clickhouse_number_columns(size_t count)
{
	static const char all[] = "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
				  "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn";

	_Static_assert(sizeof(all) - 1 == CLICKHOUSE_FIELDS_MAX,
		       "as many as there may be");
	return all + CLICKHOUSE_FIELDS_MAX - count;
}

struct row_numbers {
	uint64_t values[CLICKHOUSE_FIELDS_MAX];
	size_t count;
};

static int read_numbers(void *arg, char **fields, struct error *err)
{
	struct row_numbers *n = arg;

	(void)err;
	for (size_t i = 0; i < n->count; i++)
		n->values[i] = tsv_u64(fields[i]);
	return 0;
}

int clickhouse_numbers(struct clickhouse *ch, const char *sql,
		       const struct clickhouse_param *params, uint64_t *ret,
		       size_t count, struct error *err)
{
	struct row_numbers n = {.count = count};

	if (clickhouse_row(ch, sql, params, clickhouse_number_columns(count),
			   read_numbers, &n, err) < 0)
		return -1;
	memcpy(ret, n.values, count * sizeof(*ret));
	return 0;
}

int clickhouse_now(struct clickhouse *ch, int64_t *ret_ms, struct error *err)
{
	uint64_t now = 0;

	if (clickhouse_numbers(ch,
			       "SELECT toUnixTimestamp64Milli(now64(3, "
			       "'UTC'))",
			       NULL, &now, 1, err) < 0)
		return error_wrap(err, "ClickHouse's clock");
	*ret_ms = (int64_t)now;
	return 0;
}
