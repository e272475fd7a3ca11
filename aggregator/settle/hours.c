#include "aggregator/settle/hours.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "aggregator/settle/settle_sql.h"
#include "common/clickhouse/rowbinary.h"
#include "common/clock.h"

#define CHANCE_BITS 20

uint64_t attempt_at(int64_t real_ms)
{
	return real_ms < 0 ? 0 : (uint64_t)real_ms << CHANCE_BITS;
}

uint64_t attempt_next(uint64_t after)
{
	uint32_t chance = 0;
	uint64_t next;

	if (getrandom(&chance, sizeof(chance), 0) != sizeof(chance))
		chance = (uint32_t)clock_monotonic_ns();
	next = attempt_at(clock_real_ms()) |
	       (chance & ((UINT32_C(1) << CHANCE_BITS) - 1));
	/* A clock that was set back must not hide what is settled now. */
	return next > after ? next : after + 1 + (chance & 0xffff);
}

/* "[1792800000,1792803600]" */
static void put_list(struct buf *list, const struct stale *hours, size_t count)
{
	for (size_t i = 0; i < count; i++)
		buf_printf(list, "%c%" PRId64, i ? ',' : '[', hours[i].start);
	buf_putc(list, ']');
}

int hours_compute(struct clickhouse *ch, const struct stale *hours,
		  size_t count, uint64_t attempt, int64_t values_max,
		  struct error *err)
{
	char start[24], end[24], number[24], most[24];
	struct buf sql = {0}, list = {0};
	int status = -1;

	snprintf(start, sizeof(start), "%" PRId64, hours[0].start);
	snprintf(end, sizeof(end), "%" PRId64, hours[count - 1].start + 3600);
	snprintf(number, sizeof(number), "%" PRIu64, attempt);
	snprintf(most, sizeof(most), "%" PRId64, values_max);
	put_list(&list, hours, count);
	settle_sql_hours(&sql);
	const struct clickhouse_param params[] = {
		{"param_hours", buf_cstr(&list)},
		{"param_start", start},
		{"param_end", end},
		{"param_attempt", number},
		{"param_values_max", most},
		/* One insert, one part a day. */
		{"min_insert_block_size_rows", "10000000"},
		{"min_insert_block_size_bytes", "1000000000"},
		{"max_insert_threads", "1"},
		{NULL, NULL}};

	if (!params[0].value || !buf_cstr(&sql))
		error_set_nomem(err);
	else
		status = clickhouse_query(ch, sql.data, params, NULL, err);
	buf_free(&sql);
	buf_free(&list);
	return status < 0 ? error_wrap(err, "settle hour %s and %zu more",
				       start, count - 1)
			  : 0;
}

int settled_publish(struct clickhouse *ch, const struct settled_row *rows,
		    size_t count, const struct progress *pass,
		    const char *settler, struct error *err)
{
	static const int8_t kinds[] = {
		[SETTLED_HOUR] = 1, [SETTLED_DAY] = 2, [SETTLED_PASS] = 3};
	int64_t now = clock_real_ms();
	struct buf data = {0};
	int status;

	for (size_t i = 0; i < count; i++) {
		rowbinary_u8(&data, (uint8_t)kinds[rows[i].kind]);
		rowbinary_u32(&data, (uint32_t)rows[i].what.start);
		rowbinary_u64(&data, rows[i].attempt);
		rowbinary_u64(&data, rows[i].what.blocks);
		rowbinary_u64(&data, rows[i].what.rows);
		rowbinary_i64(&data, pass->read_until);
		rowbinary_i64(&data, pass->complete_until);
		rowbinary_i64(&data, now);
		rowbinary_string(&data, settler, strlen(settler));
	}
	if (data.failed) {
		buf_free(&data);
		return error_set_nomem(err);
	}
	status = clickhouse_insert(
		ch,
		"INSERT INTO settled (kind, unit, attempt, blocks, rows, "
		"read_until, complete_until, settled_at, settler) "
		"FORMAT RowBinary",
		NULL, data.data, data.len, err);
	buf_free(&data);
	return status < 0 ? error_wrap(err, "publish") : 0;
}
