#include "collector/tools/import/undo_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "collector/tools/dropped_days.h"
#include "common/buf.h"
#include "common/clickhouse/rows.h"
#include "common/clock.h"
#include "schemas/ingest_progress.h"

enum {
	POLL_MIN_MS = 10,
	POLL_MAX_MS = 250,
	PROTECT_EVERY_MS = 60 * 1000,
	LOG_EVERY_MS = 5000,
	/* Limit of hours per statement: they are parameters in a URL, which is
	 * limited to 1 MiB. */
	HOURS_AT_ONCE = 2000,
	/* Up to this number of days, rows are deleted day by day. */
	DAYS_APART = 31,
	PARTITION_TEXT = 16,
};

/* Condition for the import's rows; parameters: topic, epoch. */
#define IS_OURS "topic = {topic:String} AND epoch = {epoch:UInt32}"

struct rows_params {
	char epoch[16];
	struct clickhouse_param items[3];
};

static const struct clickhouse_param *fill_epoch_params(struct rows_params *p,
							const struct journal *j)
{
	snprintf(p->epoch, sizeof(p->epoch), "%" PRIu32, j->epoch);
	p->items[0] = (struct clickhouse_param){"param_topic", j->topic};
	p->items[1] = (struct clickhouse_param){"param_epoch", p->epoch};
	p->items[2] = (struct clickhouse_param){NULL, NULL};
	return p->items;
}

/* --- counts --------------------------------------------------------------- */

static int take_hour(void *arg, char **f, struct error *err)
{
	return undo_hours_add(arg, tsv_u64(f[0]), tsv_u64(f[1]), err);
}

int undo_rows_count(const struct journal *j, struct undo_hours *ret,
		    struct error *err)
{
	static const char sql[] =
		"SELECT u_hour, max(u_count) FROM ("
		"SELECT u_hour, sum(u_block) AS u_count FROM (SELECT first, "
		"last, u_hour, max(u_rows) AS u_block FROM ingest_progress "
		"ARRAY JOIN mapKeys(hours) AS u_hour, mapValues(hours) AS "
		"u_rows WHERE " IS_OURS " GROUP BY first, last, u_hour) "
		"GROUP BY u_hour UNION ALL "
		"SELECT toUInt32(intDiv(toUnixTimestamp(ts), 3600) * 3600) "
		"AS u_hour, count() AS u_count FROM clicks WHERE " IS_OURS
		" GROUP BY u_hour) GROUP BY u_hour ORDER BY u_hour "
		"FORMAT TabSeparated";
	struct rows_params p;

	undo_hours_release(ret);
	if (clickhouse_rows(j->ch, sql, fill_epoch_params(&p, j), "nn",
			    take_hour, ret, err) < 0)
		return error_wrap(err, "rows of the import");
	return 0;
}

int undo_rows_are_none(const struct journal *j, bool *ret, struct error *err)
{
	static const char sql[] =
		"SELECT (SELECT count() FROM clicks WHERE " IS_OURS
		") + (SELECT count() FROM ingest_progress WHERE " IS_OURS
		") FORMAT TabSeparated";
	struct rows_params p;
	uint64_t n = 0;

	if (clickhouse_numbers(j->ch, sql, fill_epoch_params(&p, j), &n, 1,
			       err) < 0)
		return error_wrap(err, "rows of the import");
	*ret = !n;
	return 0;
}

static int set_dropped(struct error *err, int64_t day)
{
	char text[RFC3339_TEXT_MAX];

	return error_set(err, ERROR_INPUT,
			 "the day %.10s was dropped (raw_days): the rows that "
			 "the import brought to it are gone, and what was "
			 "settled of them stays; nothing was taken back",
			 rfc3339_format(day * CLOCK_DAY, text));
}

/* A dropped day cannot be settled without some of its rows.  The log's reports
 * may be gone as well; then the base of the day shows it. */
static int check_bases(const struct journal *j, struct error *err)
{
	static const char sql[] =
		"SELECT count(), toUInt32(min(day)) FROM dropped_sources "
		"WHERE " IS_OURS
		" AND toDateTime(day, 'UTC') IN (SELECT unit FROM settled "
		"WHERE kind = 'dropped_day') FORMAT TabSeparated";
	struct rows_params p;
	uint64_t n[2] = {0};

	if (clickhouse_numbers(j->ch, sql, fill_epoch_params(&p, j), n, 2,
			       err) < 0)
		return error_wrap(err, "dropped_sources");
	return n[0] ? set_dropped(err, (int64_t)n[1]) : 0;
}

struct dropped {
	const struct undo_hours *hours;
	int64_t day; /* the first day with rows; -1: none */
};

static int take_dropped(void *arg, char **f, struct error *err)
{
	struct dropped *d = arg;
	int64_t day = tsv_i64(f[0]);

	(void)err;
	for (size_t i = 0; d->day < 0 && i < d->hours->count; i++)
		if (undo_hour_day(&d->hours->items[i]) == day)
			d->day = day;
	return 0;
}

int undo_rows_check_dropped(const struct journal *j,
			    const struct undo_hours *hours, struct error *err)
{
	static const char sql[] =
		"SELECT DISTINCT toUInt32(toDate(unit)) AS u_day FROM settled "
		"WHERE kind = 'dropped_day' ORDER BY u_day "
		"FORMAT TabSeparated";
	struct dropped dropped = {.hours = hours, .day = -1};
	bool before = false;

	if (check_bases(j, err) < 0)
		return -1;
	if (!hours->count)
		return 0;
	/* A month that was dropped as a whole has no row. */
	if (dropped_days_has(j->ch, undo_hour_day(&hours->items[0]), &before,
			     err) < 0)
		return -1;
	if (before)
		return set_dropped(err, undo_hour_day(&hours->items[0]));
	if (clickhouse_rows(j->ch, sql, NULL, "n", take_dropped, &dropped,
			    err) < 0)
		return error_wrap(err, "dropped days");
	return dropped.day < 0 ? 0 : set_dropped(err, dropped.day);
}

/* --- mutations ------------------------------------------------------------
 */

struct mutations {
	uint64_t running, parts;
	char reason[300];
};

static int take_mutations(void *arg, char **f, struct error *err)
{
	struct mutations *m = arg;

	(void)err;
	m->running = tsv_u64(f[0]);
	m->parts = tsv_u64(f[1]);
	snprintf(m->reason, sizeof(m->reason), "%s", f[2]);
	return 0;
}

/* Mutations of this log, from any process: nothing else names its topic. */
#define IS_OUR_MUTATION                                                        \
	"database = currentDatabase() AND table = {table:String} AND "         \
	"NOT is_done AND position(command, {quoted:String}) > 0"

/* Writes the quoted topic, which identifies a command; the name has no
 * characters that need escaping. */
static void quote_topic(const struct journal *j,
			char text[IMPORT_TOPIC_MAX + 3])
{
	snprintf(text, IMPORT_TOPIC_MAX + 3, "'%s'", j->topic);
}

/* A mutation that fails is retried forever, and blocks those after it: kill
 * them. */
static void end_mutations(const struct journal *j, const char *table)
{
	static const char sql[] =
		"KILL MUTATION WHERE " IS_OUR_MUTATION " FORMAT Null";
	struct error ignored = {0};
	char quoted[IMPORT_TOPIC_MAX + 3];
	const struct clickhouse_param params[] = {
		{"param_table", table}, {"param_quoted", quoted}, {NULL, NULL}};

	quote_topic(j, quoted);
	(void)clickhouse_query(j->ch, sql, params, NULL, &ignored);
}

static int look_at_mutations(const struct journal *j, const char *table,
			     struct mutations *ret, struct error *err)
{
	static const char sql[] =
		"SELECT count(), sum(parts_to_do), max(latest_fail_reason) "
		"FROM system.mutations WHERE " IS_OUR_MUTATION
		" FORMAT TabSeparated";
	char quoted[IMPORT_TOPIC_MAX + 3];
	const struct clickhouse_param params[] = {
		{"param_table", table}, {"param_quoted", quoted}, {NULL, NULL}};

	quote_topic(j, quoted);
	*ret = (struct mutations){0};
	if (clickhouse_rows(j->ch, sql, params, "nns", take_mutations, ret,
			    err) < 0)
		return error_wrap(err, "system.mutations");
	return 0;
}

static void show_progress(struct undo_rows *u, const char *table,
			  const struct mutations *m)
{
	int64_t now = clock_monotonic_ms();

	if (u->bar.terminal) {
		bar_show(&u->bar, u->days_done, u->days);
		return;
	}
	if (now - u->logged < LOG_EVERY_MS)
		return;
	u->logged = now;
	log_info(app_log(u->app), "taking back",
		 log_str("topic", u->journal->topic), log_str("table", table),
		 log_int("days", (int64_t)u->days_done),
		 log_int("of", (int64_t)u->days),
		 log_int("parts_to_do", (int64_t)m->parts));
}

/* Renews the protection of the days, so that the days do not look abandoned by
 * a killed process. */
static int renew_day_protection(struct undo_rows *u, struct error *err)
{
	int64_t now = clock_monotonic_ms();

	if (!u->protected)
		u->protected = now;
	if (now - u->protected < PROTECT_EVERY_MS)
		return 0;
	u->protected = now;
	return undo_journal_protect(u->journal, u->hours, u->host, err);
}

/* Waits until the table has no unfinished mutation of this log. */
static int await_mutations(struct undo_rows *u, const char *table,
			   struct error *err)
{
	int poll_ms = POLL_MIN_MS;
	struct mutations m;

	for (;; poll_ms = poll_ms < POLL_MAX_MS ? 2 * poll_ms : poll_ms) {
		if (renew_day_protection(u, err) < 0)
			return -1;
		if (look_at_mutations(u->journal, table, &m, err) < 0)
			return -1;
		show_progress(u, table, &m);
		if (*m.reason) {
			end_mutations(u->journal, table);
			return error_set_retriable(
				err, ERROR_REMOTE,
				"ClickHouse cannot change %s: %s", table,
				m.reason);
		}
		if (!m.running)
			return 0;
		if (app_should_stop(u->app, poll_ms))
			return error_set(err, ERROR_STOPPED,
					 "stopped; run it again to finish");
	}
}

/* --- rows ----------------------------------------------------------------- */

/* The partitions of clicks, which are its days, that have rows. */
struct days {
	uint64_t count;
	char first[PARTITION_TEXT]; /* "20261126" */
};

static int take_days(void *arg, char **f, struct error *err)
{
	struct days *days = arg;
	size_t len = strlen(f[1]);

	/* The name becomes part of a statement, so that it is checked. */
	if (len >= PARTITION_TEXT || strspn(f[1], "0123456789") != len)
		return error_set(err, ERROR_PROTOCOL,
				 "clicks: a partition is called '%s'", f[1]);
	days->count = tsv_u64(f[0]);
	snprintf(days->first, sizeof(days->first), "%s", f[1]);
	return 0;
}

static int find_days(const struct journal *j, struct days *ret,
		     struct error *err)
{
	static const char sql[] =
		"SELECT uniqExact(_partition_id), min(_partition_id) "
		"FROM clicks WHERE " IS_OURS " FORMAT TabSeparated";
	struct rows_params p;

	*ret = (struct days){0};
	return clickhouse_row(j->ch, sql, fill_epoch_params(&p, j), "ns",
			      take_days, ret, err);
}

/*
 * Deletes day by day, since a mutation without a partition scans the whole
 * table; if there are many days it deletes all at once, since each mutation
 * takes time to begin.  It affects only rows that exist when it begins, and
 * only of this epoch: a late one deletes nothing of another import.
 */
static int delete_days(const struct journal *j, const struct days *days,
		       struct error *err)
{
	char sql[160 + IMPORT_TOPIC_MAX], in[64] = "";

	if (days->count <= DAYS_APART)
		snprintf(in, sizeof(in), "IN PARTITION ID '%s' ", days->first);
	snprintf(sql, sizeof(sql),
		 "ALTER TABLE clicks DELETE %sWHERE topic = '%s' AND "
		 "epoch = %" PRIu32,
		 in, j->topic, j->epoch);
	return clickhouse_query(j->ch, sql, NULL, NULL, err);
}

/* Another process may have left an unfinished mutation. */
static int delete_some(struct undo_rows *u, struct days *days,
		       struct error *err)
{
	if (await_mutations(u, "clicks", err) < 0 ||
	    find_days(u->journal, days, err) < 0)
		return -1;
	if (days->count > u->days - u->days_done)
		u->days = u->days_done + days->count;
	u->days_done = u->days - days->count;
	return days->count ? delete_days(u->journal, days, err) : 0;
}

int undo_rows_delete(struct undo_rows *u, struct error *err)
{
	struct days days = {0};
	int status;

	do
		status = delete_some(u, &days, err);
	while (status == 0 && days.count);
	return status < 0 ? error_wrap(err, "clicks") : 0;
}

static int count_reports(const struct journal *j, uint64_t *ret,
			 struct error *err)
{
	static const char sql[] =
		"SELECT count() FROM ingest_progress WHERE " IS_OURS
		" AND (rows > 0 OR dead_lettered > 0 OR "
		"arraySum(mapValues(hours)) > 0) FORMAT TabSeparated";
	struct rows_params p;

	return clickhouse_numbers(j->ch, sql, fill_epoch_params(&p, j), ret, 1,
				  err);
}

int undo_rows_empty_reports(struct undo_rows *u, struct error *err)
{
	const struct journal *j = u->journal;
	char sql[300 + IMPORT_TOPIC_MAX];
	uint64_t reports;

	snprintf(sql, sizeof(sql),
		 "ALTER TABLE ingest_progress UPDATE rows = 0, "
		 "dead_lettered = 0, hours = mapFromArrays(mapKeys(hours), "
		 "arrayMap(h -> toUInt64(0), mapKeys(hours))) WHERE "
		 "topic = '%s' AND epoch = %" PRIu32,
		 j->topic, j->epoch);
	for (;;) {
		if (await_mutations(u, "ingest_progress", err) < 0 ||
		    count_reports(j, &reports, err) < 0)
			return -1;
		if (!reports)
			return 0;
		if (clickhouse_query(j->ch, sql, NULL, NULL, err) < 0)
			return error_wrap(err, "ingest_progress");
	}
}

/* --- settling ------------------------------------------------------------- */

static int tell_some(const struct journal *j, const struct undo_hour *hours,
		     size_t count, const char *host, struct error *err)
{
	struct buf list = {0}, name = {0};
	const char *text;
	int status;

	for (size_t i = 0; i < count; i++)
		buf_printf(&list, "%s%" PRIu64, i ? "," : "[", hours[i].start);
	buf_putc(&list, ']');
	text = buf_cstr(&list);
	clickhouse_escape(&name, host, strlen(host));
	if (!text || !buf_cstr(&name)) {
		status = error_set_nomem(err);
	} else {
		const struct clickhouse_param params[] = {
			{"param_hours", text},
			{"param_host", name.data},
			{"max_insert_threads", "1"},
			{NULL, NULL}};

		status = clickhouse_query(
			j->ch, PROGRESS_REPORT_RESCORED(PROGRESS_PLACES),
			params, NULL, err);
	}
	buf_free(&list);
	buf_free(&name);
	return status < 0 ? error_wrap(err, "ingest_progress") : 0;
}

int undo_rows_tell(const struct journal *j, const struct undo_hours *hours,
		   const char *host, struct error *err)
{
	for (size_t i = 0; i < hours->count; i += HOURS_AT_ONCE) {
		size_t left = hours->count - i;

		if (tell_some(j, &hours->items[i],
			      left < HOURS_AT_ONCE ? left : HOURS_AT_ONCE, host,
			      err) < 0)
			return -1;
	}
	return 0;
}
