#include "aggregator/settle/settling.h"

#include <string.h>
#include <sys/random.h>

#include "common/clickhouse/rowbinary.h"
#include "common/clickhouse/tsv.h"
#include "common/clock.h"

#define CHANCE_BITS 20
#define NUMBERS_MAX 6

uint64_t attempt_at(int64_t now_ms)
{
	return now_ms < 0 ? 0 : (uint64_t)now_ms << CHANCE_BITS;
}

uint64_t attempt_next(int64_t now_ms, uint64_t after)
{
	uint32_t chance = 0;
	uint64_t next;

	if (getrandom(&chance, sizeof(chance), 0) != sizeof(chance))
		chance = (uint32_t)clock_monotonic_ns();
	next = attempt_at(now_ms) |
	       (chance & ((UINT32_C(1) << CHANCE_BITS) - 1));
	/* A clock that was set back must not hide what is settled now. */
	return next > after ? next : after + 1 + (chance & 0xffff);
}

int64_t attempt_until(const struct settling *s, uint64_t attempt)
{
	return (int64_t)(attempt >> CHANCE_BITS) + s->settings->keep_superseded;
}

int attempt_check_age(const struct settling *s, uint64_t attempt,
		      struct error *err)
{
	if (settling_now(s) < attempt_until(s, attempt))
		return 0;
	return error_set_retriable(err, ERROR_BUSY,
				   "it took longer than aggregator."
				   "keep_superseded: its rows may be deleted");
}

int settled_insert(const struct settling *s, const struct settled_row *rows,
		   size_t count, const struct progress *pass, struct error *err)
{
	static const struct clickhouse_param params[] = {{"async_insert", "0"},
							 {NULL, NULL}};
	int64_t now = settling_now(s);
	struct buf data = {0};
	int status;

	for (size_t i = 0; i < count; i++) {
		rowbinary_u8(&data, (uint8_t)rows[i].kind);
		rowbinary_u32(&data, (uint32_t)rows[i].what.start);
		rowbinary_u64(&data, rows[i].attempt);
		rowbinary_u64(&data, rows[i].what.blocks);
		rowbinary_u64(&data, rows[i].what.rows);
		rowbinary_i64(&data, pass->read_until);
		rowbinary_i64(&data, pass->complete_until);
		rowbinary_u64(&data, pass->mended);
		rowbinary_i64(&data, now);
		rowbinary_string(&data, s->settler, strlen(s->settler));
	}
	if (data.failed) {
		buf_free(&data);
		return error_set_nomem(err);
	}
	status = clickhouse_insert(
		s->ch,
		"INSERT INTO settled (kind, unit, attempt, blocks, rows, "
		"read_until, complete_until, mended, settled_at, settler) "
		"FORMAT RowBinary",
		params, data.data, data.len, err);
	buf_free(&data);
	return status < 0 ? error_wrap(err, "settled") : 0;
}

int settling_ask(struct clickhouse *ch, const char *sql,
		 const struct clickhouse_param *params, size_t count,
		 void (*take)(void *arg, const uint64_t *numbers), void *arg,
		 struct error *err)
{
	uint64_t numbers[NUMBERS_MAX];
	char *fields[NUMBERS_MAX];
	struct buf answer = {0};
	struct tsv rows;
	int status = clickhouse_query(ch, sql, params, &answer, err);

	rows = tsv_rows(&answer);
	while (status == 0 && tsv_next(&rows, fields, count)) {
		for (size_t i = 0; i < count; i++)
			numbers[i] = tsv_u64(fields[i]);
		take(arg, numbers);
	}
	if (status == 0 && rows.bad)
		status = error_set(err, ERROR_PROTOCOL,
				   "an answer of another shape");
	buf_free(&answer);
	return status;
}

static void take_clock(void *arg, const uint64_t *numbers)
{
	struct server_clock *clock = arg;

	*clock = (struct server_clock){(int64_t)numbers[0],
				       clock_monotonic_ms()};
}

int server_clock_read(struct clickhouse *ch, struct server_clock *ret,
		      struct error *err)
{
	return settling_ask(ch,
			    "SELECT toUnixTimestamp64Milli(now64(3, 'UTC')) "
			    "FORMAT TabSeparated",
			    NULL, 1, take_clock, ret, err);
}

int64_t settling_now(const struct settling *s)
{
	return s->clock.server_ms + clock_monotonic_ms() -
	       s->clock.monotonic_ms;
}

int settling_run(struct clickhouse *ch, struct buf *sql,
		 const struct clickhouse_param *params, struct error *err)
{
	const char *text = buf_cstr(sql);
	int status = text ? clickhouse_query(ch, text, params, NULL, err)
			  : error_set_nomem(err);

	buf_reset(sql);
	return status;
}
