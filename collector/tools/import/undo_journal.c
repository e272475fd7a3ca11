#include "collector/tools/import/undo_journal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clickhouse/rowbinary.h"
#include "common/clickhouse/rows.h"
#include "common/clock.h"

enum {
	STATE_BEGUN = 1, /* see the table `rescored` */
};

static const char by[] = "--undo"; /* for the column `file` */

/* --- hours ---------------------------------------------------------------- */

void undo_hours_release(struct undo_hours *h)
{
	free(h->items);
	*h = (struct undo_hours){0};
}

int undo_hours_add(struct undo_hours *h, uint64_t start, uint64_t rows,
		   struct error *err)
{
	struct undo_hour *more =
		reallocarray(h->items, h->count + 1, sizeof(*more));

	if (!more)
		return error_set_nomem(err);
	h->items = more;
	more[h->count++] = (struct undo_hour){start, rows};
	return 0;
}

uint64_t undo_hours_rows(const struct undo_hours *h)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < h->count; i++)
		sum += h->items[i].rows;
	return sum;
}

bool undo_hours_cover(const struct undo_hours *h,
		      const struct undo_hours *other)
{
	size_t at = 0;

	for (size_t i = 0; i < other->count; i++) {
		const struct undo_hour *want = &other->items[i];

		while (at < h->count && h->items[at].start < want->start)
			at++;
		if (at == h->count || h->items[at].start != want->start ||
		    h->items[at].rows < want->rows)
			return false;
	}
	return true;
}

/* --- read ----------------------------------------------------------------- */

struct journal_params {
	char epoch[16];
	struct clickhouse_param items[4];
};

static const struct clickhouse_param *fill_log_params(struct journal_params *p,
						      const struct journal *j)
{
	snprintf(p->epoch, sizeof(p->epoch), "%" PRIu32, j->epoch);
	p->items[0] = (struct clickhouse_param){"param_name", j->name};
	p->items[1] = (struct clickhouse_param){"param_epoch", p->epoch};
	p->items[2] = (struct clickhouse_param){"max_insert_threads", "1"};
	p->items[3] = (struct clickhouse_param){NULL, NULL};
	return p->items;
}

static int take_hour(void *arg, char **f, struct error *err)
{
	return undo_hours_add(arg, tsv_u64(f[0]), tsv_u64(f[1]), err);
}

static int read_hours(struct journal *j, struct undo_hours *ret,
		      struct error *err)
{
	static const char sql[] =
		"SELECT u_hour, max(u_rows) FROM import_journal ARRAY JOIN "
		"arraySlice(head, 1, intDiv(length(head), 2)) AS u_hour, "
		"arraySlice(head, intDiv(length(head), 2) + 1) AS u_rows "
		"WHERE identity = {name:String} AND epoch = {epoch:UInt32} "
		"AND what = 'undo' GROUP BY u_hour ORDER BY u_hour "
		"FORMAT TabSeparated";
	struct journal_params p;

	undo_hours_release(ret);
	return clickhouse_rows(j->ch, sql, fill_log_params(&p, j), "nn",
			       take_hour, ret, err);
}

int undo_journal_read(struct journal *j, struct undo_state *ret,
		      struct error *err)
{
	static const char sql[] =
		"SELECT count(), countIf(what = 'taken' OR notEmpty(head)) "
		"FROM import_journal WHERE " JOURNAL_SQL_UNDO
		" FORMAT TabSeparated";
	struct journal_params p;
	uint64_t n[2] = {0};

	if (clickhouse_numbers(j->ch, sql, fill_log_params(&p, j), n, 2, err) <
		    0 ||
	    read_hours(j, &ret->hours, err) < 0)
		return error_wrap(err, "import_journal");
	ret->begun = n[0] > 0;
	ret->planned = n[1] > 0;
	return 0;
}

/* --- write ------------------------------------------------------------------
 *
 * None of these rows has a token: a row that is stored twice does no harm.
 */

int undo_journal_begin(struct journal *j, struct error *err)
{
	return journal_write(j, JOURNAL_UNDO, NULL, 0, 0, by, err);
}

int undo_journal_plan(struct journal *j, const struct undo_hours *hours,
		      struct error *err)
{
	struct log_head head = {.count = 2 * hours->count};
	int status;

	head.numbers = calloc(head.count + 1, sizeof(*head.numbers));
	if (!head.numbers)
		return error_set_nomem(err);
	for (size_t i = 0; i < hours->count; i++) {
		head.numbers[i] = hours->items[i].start;
		head.numbers[hours->count + i] = hours->items[i].rows;
	}
	status = journal_write(j, JOURNAL_UNDO, &head, 0, 0, by, err);
	free(head.numbers);
	return status;
}

int undo_journal_taken(struct journal *j, struct error *err)
{
	return journal_write(j, JOURNAL_TAKEN, NULL, 0, 0, by, err);
}

/* Appends a row of `rescored` for the day at the start of `hours`; returns how
 * many hours that day has. */
static size_t put_day(const struct journal *j, const struct undo_hour *hours,
		      size_t count, const char *host, int64_t now_ms,
		      struct buf *row)
{
	uint64_t rows = 0;
	size_t n = 0;

	for (; n < count && undo_hour_day(&hours[n]) == undo_hour_day(hours);
	     n++)
		rows += hours[n].rows;
	rowbinary_u16(row, (uint16_t)undo_hour_day(hours));
	rowbinary_u64(row, j->run);
	rowbinary_u8(row, STATE_BEGUN);
	rowbinary_u64(row, rows);
	rowbinary_count(row, n);
	for (size_t i = 0; i < n; i++)
		rowbinary_u32(row, (uint32_t)hours[i].start);
	rowbinary_i64(row, now_ms);
	rowbinary_string(row, host, strlen(host));
	rowbinary_string(row, j->name, strlen(j->name));
	return n;
}

int undo_journal_protect(struct journal *j, const struct undo_hours *hours,
			 const char *host, struct error *err)
{
	static const char sql[] =
		"INSERT INTO rescored (day, run, state, rows, hours, at, host, "
		"import) FORMAT RowBinary";
	/* A log may span more years than the usual limit of partitions per
	 * insert. */
	static const struct clickhouse_param params[] = {
		{"async_insert", "0"},
		{"max_partitions_per_insert_block", "0"},
		{NULL, NULL}};
	struct buf rows = {0};
	int64_t now_ms;
	int status;

	if (!hours->count)
		return 0;
	if (clickhouse_now(j->ch, &now_ms, err) < 0)
		return -1;
	for (size_t i = 0; i < hours->count;)
		i += put_day(j, &hours->items[i], hours->count - i, host,
			     now_ms, &rows);
	status = rows.failed ? error_set_nomem(err)
			     : clickhouse_insert(j->ch, sql, params, rows.data,
						 rows.len, err);
	buf_free(&rows);
	return status < 0 ? error_wrap(err, "rescored") : 0;
}

/* Ends the log's runs, of any process: at this point either the work of all of
 * them is done, or none has done anything. */
static int release_days(struct journal *j, struct error *err)
{
	static const char sql[] =
		"INSERT INTO rescored (day, run, state, rules, rows, hours, "
		"at, host, owner, import) SELECT day, run, 'done', rules, "
		"rows, hours, now64(3, 'UTC'), host, owner, import "
		"FROM rescored WHERE import = {name:String} AND "
		"state = 'begun' AND run NOT IN (SELECT run FROM rescored "
		"WHERE import = {name:String} AND state = 'done') "
		"SETTINGS max_partitions_per_insert_block = 0";
	struct journal_params p;

	if (clickhouse_query(j->ch, sql, fill_log_params(&p, j), NULL, err) < 0)
		return error_wrap(err, "rescored");
	return 0;
}

int undo_journal_finish(struct journal *j, struct error *err)
{
	if (release_days(j, err) < 0)
		return -1;
	return journal_write(j, JOURNAL_UNDONE, NULL, 0, 0, by, err);
}

int undo_journal_keep(struct journal *j, struct error *err)
{
	static const char sql[] =
		"INSERT INTO import_journal (identity, what, run, number, "
		"epoch, file) SELECT DISTINCT identity, 'kept', run, number, "
		"epoch, file FROM import_journal WHERE "
		"identity = {name:String} AND epoch = {epoch:UInt32} AND "
		"what = 'undo' AND empty(head)";
	struct journal_params p;

	if (release_days(j, err) < 0)
		return -1;
	if (clickhouse_query(j->ch, sql, fill_log_params(&p, j), NULL, err) < 0)
		return error_wrap(err, "import_journal");
	return 0;
}
