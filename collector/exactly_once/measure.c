#include "collector/exactly_once/measure.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "common/clickhouse/rowbinary.h"
#include "common/clickhouse/tsv.h"

#define PREFIX	   "shortloop_guarantee_"
#define TEXT(x)	   #x
#define TEXT_OF(x) TEXT(x)

enum {
	ACCESS_DENIED = 497,
	NAME_MAX_LEN = 64,
};

struct scratch {
	struct sink *sink;
	char table[NAME_MAX_LEN];
	struct buf rows;
};

static int run(struct scratch *s, const char *what, const char *table,
	       const char *rest, struct error *err)
{
	struct buf sql = {0};
	int status;

	buf_printf(&sql, "%s %s%s", what, table, rest);
	status = buf_cstr(&sql) ? clickhouse_query(sink_server(s->sink),
						   sql.data, NULL, NULL, err)
				: error_set_nomem(err);
	buf_free(&sql);
	return status;
}

/* Those of collectors that were killed while they measured. */
static int drop_left_over(struct scratch *s, struct error *err)
{
	static const char sql[] =
		"SELECT name FROM system.tables "
		"WHERE database = currentDatabase() "
		"AND startsWith(name, '" PREFIX "') "
		"AND metadata_modification_time < now() - INTERVAL 1 HOUR "
		"FORMAT TabSeparated";
	struct buf answer = {0};
	struct tsv rows;
	char *name;
	int status =
		clickhouse_query(sink_server(s->sink), sql, NULL, &answer, err);

	rows = tsv_rows(&answer);
	while (status == 0 && tsv_next(&rows, &name, 1))
		status = run(s, "DROP TABLE IF EXISTS", name, "", err);
	buf_free(&answer);
	return status;
}

/* A row a day. */
static int insert(struct scratch *s, const char *token, uint32_t first_day,
		  uint32_t days, struct error *err)
{
	buf_reset(&s->rows);
	for (uint32_t day = first_day; day < first_day + days; day++) {
		rowbinary_u32(&s->rows, day);
		rowbinary_u64(&s->rows, day);
	}
	if (s->rows.failed)
		return error_set_nomem(err);
	return sink_insert_into(s->sink, s->table, "day, n", token,
				s->rows.data, s->rows.len, err);
}

static int count(struct scratch *s, uint32_t first_day, uint32_t last_day,
		 uint64_t *ret, struct error *err)
{
	struct buf sql = {0}, answer = {0};
	struct tsv rows;
	char *field;
	int status;

	buf_printf(&sql,
		   "SELECT count() FROM %s WHERE day BETWEEN %" PRIu32
		   " AND %" PRIu32 " FORMAT TabSeparated",
		   s->table, first_day, last_day);
	status = buf_cstr(&sql) ? clickhouse_query(sink_server(s->sink),
						   sql.data, NULL, &answer, err)
				: error_set_nomem(err);
	rows = tsv_rows(&answer);
	if (status == 0 && tsv_next(&rows, &field, 1))
		*ret = tsv_u64(field);
	buf_free(&sql);
	buf_free(&answer);
	return status;
}

/* A block of two days; then the same, then its second day alone. */
static int try_again(struct scratch *s, struct measured *m, struct error *err)
{
	uint64_t rows = 0;

	for (int tries = 0; tries < 2; tries++)
		if (insert(s, "block", 1, 2, err) < 0)
			return -1;
	if (count(s, 1, 2, &rows, err) < 0)
		return -1;
	if (rows != 2) {
		snprintf(m->flaw, sizeof(m->flaw),
			 "a block that is sent again is stored again");
		return 0;
	}
	if (insert(s, "block", 2, 1, err) < 0 || count(s, 1, 2, &rows, err) < 0)
		return -1;
	if (rows != 2)
		snprintf(m->flaw, sizeof(m->flaw),
			 "a day of a block is not known by the block's token");
	return 0;
}

/* Sent again and refused, a token is not renewed. */
static int forget(struct scratch *s, struct measured *m, struct error *err)
{
	char token[32];
	uint64_t rows = 0;

	if (insert(s, "first", 3, 1, err) < 0)
		return -1;
	for (unsigned i = 1; i <= MEASURE_WINDOW; i++) {
		snprintf(token, sizeof(token), "other %u", i);
		if (insert(s, token, 4, 1, err) < 0 ||
		    insert(s, "first", 3, 1, err) < 0 ||
		    count(s, 3, 3, &rows, err) < 0)
			return -1;
		m->outlived = i;
		if (rows > 1)
			break;
	}
	return 0;
}

static int create(struct scratch *s, struct measured *m, struct error *err)
{
	static const char rest[] =
		" (day UInt32, n UInt64) ENGINE = MergeTree "
		"PARTITION BY day ORDER BY n "
		"SETTINGS non_replicated_deduplication_window = " TEXT_OF(
			MEASURE_WINDOW);
	snprintf(s->table, sizeof(s->table), PREFIX "%08x%08x",
		 (unsigned)randombytes_random(),
		 (unsigned)randombytes_random());
	if (run(s, "CREATE TABLE", s->table, rest, err) == 0)
		return 0;
	if (clickhouse_last_code(sink_server(s->sink)) != ACCESS_DENIED)
		return -1;
	snprintf(m->why, sizeof(m->why), "this user may not CREATE TABLE");
	*err = (struct error){0};
	return 1;
}

int measure_tokens(struct sink *sink, struct measured *ret, struct error *err)
{
	struct scratch s = {.sink = sink};
	struct measured m = {0};
	struct error ignored;
	int status = create(&s, &m, err);

	if (status == 0) {
		status = try_again(&s, &m, err);
		if (status == 0 && !*m.flaw)
			status = forget(&s, &m, err);
		m.done = status == 0;
		/* One that stays is dropped by whoever measures next. */
		run(&s, "DROP TABLE IF EXISTS", s.table, "", &ignored);
		if (status == 0)
			status = drop_left_over(&s, err);
	}
	buf_free(&s.rows);
	if (status < 0)
		return error_wrap(err, "measuring");
	*ret = m;
	return 0;
}

uint64_t measure_window(const struct measured *m, uint64_t window)
{
	return window / MEASURE_WINDOW * m->outlived +
	       window % MEASURE_WINDOW * m->outlived / MEASURE_WINDOW;
}
