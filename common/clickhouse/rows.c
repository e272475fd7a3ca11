#include "common/clickhouse/rows.h"

#include <stdbool.h>
#include <string.h>

int clickhouse_rows(struct clickhouse *ch, const char *sql,
		    const struct clickhouse_param *params, size_t count,
		    clickhouse_row_fn *fn, void *arg, struct error *err)
{
	char *fields[CLICKHOUSE_FIELDS_MAX];
	struct buf answer = {0};
	struct tsv rows;
	int status = clickhouse_query(ch, sql, params, &answer, err);

	rows = tsv_rows(&answer);
	while (status == 0 && tsv_next(&rows, fields, count))
		status = fn(arg, fields, err);
	if (status == 0 && rows.bad)
		status = error_set(err, ERROR_PROTOCOL,
				   "ClickHouse: an answer of another shape");
	buf_free(&answer);
	return status;
}

struct numbers {
	uint64_t values[CLICKHOUSE_FIELDS_MAX];
	size_t count;
	bool read;
};

static int read_numbers(void *arg, char **fields, struct error *err)
{
	struct numbers *n = arg;

	if (n->read)
		return error_set(err, ERROR_PROTOCOL,
				 "ClickHouse: more than one row");
	for (size_t i = 0; i < n->count; i++)
		n->values[i] = tsv_u64(fields[i]);
	n->read = true;
	return 0;
}

int clickhouse_numbers(struct clickhouse *ch, const char *sql,
		       const struct clickhouse_param *params, uint64_t *ret,
		       size_t count, struct error *err)
{
	struct numbers n = {.count = count};

	if (clickhouse_rows(ch, sql, params, count, read_numbers, &n, err) < 0)
		return -1;
	if (!n.read)
		return error_set(err, ERROR_PROTOCOL,
				 "ClickHouse: an answer without a row");
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
