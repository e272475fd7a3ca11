#include "collector/tools/verify/ask.h"

#include <endian.h>
#include <inttypes.h>

void ask_release(struct ask *a)
{
	buf_free(&a->sql);
	buf_free(&a->answer);
}

struct buf *ask_begin(struct ask *a)
{
	buf_reset(&a->sql);
	return &a->sql;
}

void ask_put_times(struct ask *a, const char *time, int64_t since_ms,
		   int64_t until_ms)
{
	buf_printf(&a->sql,
		   " AND %s >= fromUnixTimestamp64Milli(toInt64(%" PRId64
		   "), 'UTC') AND %s < fromUnixTimestamp64Milli(toInt64("
		   "%" PRId64 "), 'UTC')",
		   time, since_ms, time, until_ms);
}

static int run_query(struct ask *a, struct error *err)
{
	struct buf topic = {0};
	int status = -1;

	clickhouse_escape(&topic, a->topic, strlen(a->topic));
	buf_puts(&a->sql, " FORMAT RowBinary");
	buf_reset(&a->answer);
	if (topic.failed || !buf_cstr(&a->sql)) {
		error_set_nomem(err);
	} else {
		const struct clickhouse_param params[] = {
			{"param_topic", topic.data}, {NULL, NULL}};

		status = clickhouse_query(a->ch, a->sql.data, params,
					  &a->answer, err);
	}
	buf_free(&topic);
	return status < 0 ? error_wrap(err, "clickhouse") : 0;
}

int ask_numbers(struct ask *a, size_t columns, const uint64_t **ret_numbers,
		size_t *ret_count, struct error *err)
{
	uint64_t *numbers;
	size_t count;

	if (run_query(a, err) < 0)
		return -1;
	if (a->answer.len % (columns * sizeof(uint64_t)))
		return error_set(err, ERROR_PROTOCOL,
				 "ClickHouse answered rows of another shape");
	/* The buffer comes from malloc, and so is aligned. */
	numbers = (uint64_t *)(void *)a->answer.data;
	count = a->answer.len / sizeof(uint64_t);
	for (size_t i = 0; i < count; i++)
		numbers[i] = le64toh(numbers[i]);
	*ret_numbers = numbers;
	*ret_count = count / columns;
	return 0;
}
