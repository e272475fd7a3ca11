/* Dropping whole months: when a month is published as dropped, which rows are
 * then deleted, and which reports settling no longer needs. */
#include "tests/unit/aggregator/settled.h"

#include "aggregator/settle/drop_months.h"

/* START is the first day of October 2026; the others are days of September. */
#define OCTOBER	  (START - 23 * (int64_t)DAY)
#define SEPTEMBER (OCTOBER - 9 * (int64_t)DAY)
#define KEPT_DAYS 23

/* Counts are kept for this many days; all counts up to `until` (ms) are
 * complete. */
static void keep_days(struct settled *t, int64_t days, int64_t until)
{
	t->settings.settled_days = days;
	t->last.complete_until = until;
}

static int64_t drop_months_of(struct settled *t)
{
	struct error err = {0};
	int64_t from = -1;

	if (drop_months(&t->s, &t->last, &from, &err) < 0)
		fail_msg("%s", err.text);
	return from;
}

static uint64_t count_rows(struct settled *t, const char *table,
			   const char *where)
{
	return clickhouse_server_number(
		&t->server, "SELECT count() FROM %s WHERE %s", table, where);
}

static uint64_t count_kept_from(struct settled *t)
{
	return count_rows(t, "settled", "kind = 'kept_from'");
}

/* Counts are kept from October on; this was published at that time. */
static void publish_kept_from(struct settled *t, int64_t published_ms)
{
	clickhouse_server_do(
		&t->server,
		"INSERT INTO settled (kind, unit, attempt, settled_at) VALUES "
		"('kept_from', toDateTime(%" PRId64 ", 'UTC'), %" PRIu64
		", fromUnixTimestamp64Milli(toInt64(%" PRId64 "), 'UTC'))",
		OCTOBER, settling_attempt_at(published_ms), published_ms);
}

/* --- when ----------------------------------------------------------------- */

static void a_month_is_dropped_once_its_last_day_is_old_enough(void **state)
{
	struct settled *t = *state;
	int64_t until = START * CLOCK_SECOND;

	settled_publish_hour(t, SEPTEMBER, 5, 7);
	keep_days(t, KEPT_DAYS, until - 1); /* September's last ms is kept */
	assert_int_equal(drop_months_of(t), 0);
	assert_int_equal(count_kept_from(t), 0);
	keep_days(t, 0, until); /* counts are kept for ever */
	assert_int_equal(drop_months_of(t), 0);
	assert_int_equal(count_kept_from(t), 0);
	keep_days(t, KEPT_DAYS, until);
	assert_int_equal(drop_months_of(t), OCTOBER);
	assert_int_equal(clickhouse_server_number(
				 &t->server,
				 "SELECT count() FROM settled WHERE kind = "
				 "'kept_from' AND unit = toDateTime(%" PRId64
				 ", 'UTC') AND attempt > %" PRIu64
				 " AND settler = 'a tester' AND "
				 "toUnixTimestamp64Milli(read_until) = %" PRId64
				 " AND toUnixTimestamp64Milli(complete_until) "
				 "= %" PRId64,
				 OCTOBER, t->last.attempt, t->last.read_until,
				 until),
			 1);
}

static void nothing_is_dropped_before_1970(void **state)
{
	struct settled *t = *state;

	settled_publish_hour(t, SEPTEMBER, 5, 7);
	keep_days(t, START / DAY, START * CLOCK_SECOND);
	assert_int_equal(drop_months_of(t), 0);
	keep_days(t, START / DAY + 9, START * CLOCK_SECOND);
	assert_int_equal(drop_months_of(t), 0);
	assert_int_equal(count_kept_from(t), 0);
}

static void a_month_without_settled_hours_is_not_dropped(void **state)
{
	struct settled *t = *state;

	settled_publish_hour(t, OCTOBER, 5, 7);
	keep_days(t, KEPT_DAYS, START * CLOCK_SECOND);
	assert_int_equal(drop_months_of(t), 0);
	assert_int_equal(count_kept_from(t), 0);
}

/* Rows of the month that is kept have no effect. */
static void a_month_with_rows_of_clicks_is_not_dropped(void **state)
{
	struct settled *t = *state;

	settled_publish_hour(t, SEPTEMBER, 5, 7);
	keep_days(t, KEPT_DAYS, START * CLOCK_SECOND);
	settled_insert_some(t, OCTOBER, 2);
	settled_insert_some(t, OCTOBER - 1, 2);
	assert_int_equal(drop_months_of(t), 0);
	assert_int_equal(count_kept_from(t), 0);
	clickhouse_server_do(&t->server,
			     "ALTER TABLE clicks DROP PARTITION '20260930'");
	assert_int_equal(drop_months_of(t), OCTOBER);
	assert_int_equal(count_kept_from(t), 1);
}

static void september_has_clicks(struct settled *t)
{
	settled_insert_some(t, SEPTEMBER, 2);
}

static void settled_hours_go(struct settled *t)
{
	clickhouse_server_do(&t->server, "TRUNCATE TABLE settled");
}

/* The statement that publishes the drop checks once more. */
static void what_happens_meanwhile_keeps_the_month(void **state)
{
	struct settled *t = *state;

	settled_publish_hour(t, SEPTEMBER, 5, 7);
	keep_days(t, KEPT_DAYS, START * CLOCK_SECOND);
	t->on_lease = september_has_clicks;
	t->lease_at = 1;
	(void)drop_months_of(t);
	assert_int_equal(count_kept_from(t), 0);

	clickhouse_server_do(&t->server, "TRUNCATE TABLE clicks");
	t->on_lease = settled_hours_go;
	t->lease_at = 1;
	(void)drop_months_of(t);
	assert_int_equal(count_kept_from(t), 0);
}

static void without_the_lease_no_month_is_dropped(void **state)
{
	struct settled *t = *state;
	struct error err = {0};
	int64_t from;

	settled_publish_hour(t, SEPTEMBER, 5, 7);
	keep_days(t, KEPT_DAYS, START * CLOCK_SECOND);
	t->lease_at = 1;
	t->lost = true;
	assert_int_equal(drop_months(&t->s, &t->last, &from, &err), -1);
	assert_int_equal(err.code, ERROR_STOPPED);
	assert_int_equal(from, 0);
	assert_int_equal(count_kept_from(t), 0);
}

/* --- deleting ------------------------------------------------------------- */

/* Tables whose rows are deleted by time, and the column of that time. */
static const struct {
	const char *name, *time;
	bool is_date;
} tables[] = {
	{"clicks", "ts", false},
	{"stats_hourly", "hour", false},
	{"link_slots", "slot", false},
	{"link_days", "day", true},
	{"sealed_slots", "slot", false},
	{"owner_slots", "slot", false},
	{"owner_values", "day", true},
	{"day_values", "day", true},
	{"stats_spans", "span_start", false},
	{"reconciled_hours", "hour", false},
	{"dropped_sources", "day", true},
};

enum {
	TABLES = sizeof(tables) / sizeof(*tables)
};

/* Inserts a row in each table: that far before the start of October, and at it.
 */
static void fill_tables(struct settled *t)
{
	const int64_t at[] = {SEPTEMBER, OCTOBER - DAY, OCTOBER};

	for (size_t i = 0; i < TABLES; i++)
		for (size_t k = 0; k < 3; k++)
			clickhouse_server_do(
				&t->server,
				"INSERT INTO %s (%s) SELECT "
				"%s(toDateTime(%" PRId64 ", 'UTC'))",
				tables[i].name, tables[i].time,
				tables[i].is_date ? "toDate" : "", at[k]);
	for (size_t k = 0; k < 3; k++)
		settled_publish_hour(t, at[k], 5, 7);
}

static void delete_months(struct settled *t)
{
	struct error err = {0};

	if (drop_months_delete(&t->s, &err) < 0)
		fail_msg("%s", err.text);
}

static void months_are_deleted_once_no_query_reads_them(void **state)
{
	struct settled *t = *state;
	int64_t now = settling_now(&t->s);
	char before[96];

	fill_tables(t);
	delete_months(t); /* no month is published as dropped */
	publish_kept_from(t, now - KEEP + CLOCK_MINUTE);
	delete_months(t);
	for (size_t i = 0; i < TABLES; i++)
		assert_true(count_rows(t, tables[i].name, "1") >= 3);
	assert_int_equal(count_rows(t, "settled", "kind = 'hour'"), 3);
	clickhouse_server_do(&t->server, "ALTER TABLE settled DELETE WHERE "
					 "kind = 'kept_from' SETTINGS "
					 "mutations_sync = 2");
	publish_kept_from(t, now - KEEP - CLOCK_MINUTE);
	delete_months(t);
	for (size_t i = 0; i < TABLES; i++) {
		snprintf(before, sizeof(before),
			 "%s < toDateTime(%" PRId64 ", 'UTC')", tables[i].time,
			 OCTOBER);
		assert_int_equal(count_rows(t, tables[i].name, before), 0);
	}
	for (size_t i = 0; i < TABLES; i++)
		assert_true(count_rows(t, tables[i].name, "1") >= 1);
	assert_int_equal(count_rows(t, "settled", "kind = 'hour'"), 1);
	assert_int_equal(count_kept_from(t), 1);
}

/* The rows of how far a pass read, and of a mend, have no month; their time is
 * 1970. */
static void what_settling_goes_on_from_is_not_deleted(void **state)
{
	struct settled *t = *state;

	clickhouse_server_do(
		&t->server, "INSERT INTO settled (kind, unit, attempt, mended) "
			    "VALUES ('pass', 0, 5, 0), ('hour', 0, 6, 6), "
			    "('hour', 0, 7, 6)");
	publish_kept_from(t, settling_now(&t->s) - KEEP - CLOCK_MINUTE);
	delete_months(t);
	assert_int_equal(count_rows(t, "settled", "attempt = 5"), 1);
	assert_int_equal(count_rows(t, "settled", "attempt = 6"), 1);
	assert_int_equal(count_rows(t, "settled", "attempt = 7"), 0);
}

/* --- thinning ------------------------------------------------------------- */

static void delete_unread_rows(struct settled *t)
{
	struct error err = {0};

	if (drop_months_thin(&t->s, &err) < 0)
		fail_msg("%s", err.text);
}

/* A report of one hour; its block ends with offset `last`. */
struct report {
	int64_t hour, stored; /* seconds; `stored` is the hour if it is 0 */
	unsigned last, rows, lost;
	const char *topic;
};

static void store_report(struct settled *t, struct report r)
{
	int64_t stored = r.stored ? r.stored : r.hour;

	clickhouse_server_do(
		&t->server,
		"INSERT INTO ingest_progress (epoch, topic, partition, first, "
		"last, rows, lost, hours, append_time, inserted_at) SELECT 1, "
		"'%s', 0, %u, %u, %u, %u, map(toUInt32(%" PRId64
		"), toUInt64(%u)), toDateTime(%" PRId64 ", 'UTC') AS a, a",
		r.topic ? r.topic : "clicks", r.last, r.last, r.rows, r.lost,
		r.hour, r.rows, stored);
}

static bool has_report(struct settled *t, unsigned last)
{
	char where[32];

	snprintf(where, sizeof(where), "last = %u", last);
	return count_rows(t, "ingest_progress", where) > 0;
}

/* With this report, no earlier one is the newest of its source. */
static void report_october(struct settled *t)
{
	store_report(t,
		     (struct report){.hour = START, .last = 1000, .rows = 1});
}

static void reports_of_months_whose_days_are_dropped_go(void **state)
{
	struct settled *t = *state;

	t->settings.raw_days = 10;
	report_october(t);
	store_report(t,
		     (struct report){.hour = SEPTEMBER, .last = 1, .rows = 1});
	store_report(t, (struct report){
				.hour = SEPTEMBER + DAY, .last = 2, .rows = 1});
	/* This report was stored in October. */
	store_report(t, (struct report){.hour = SEPTEMBER,
					.stored = OCTOBER,
					.last = 3,
					.rows = 1});
	settled_drop(t, SEPTEMBER, 5);
	delete_unread_rows(t); /* no day of October was dropped */
	assert_true(has_report(t, 1));
	settled_drop(t, OCTOBER, 6);
	delete_unread_rows(t);
	assert_false(has_report(t, 1));
	assert_true(has_report(t, 2));
	assert_true(has_report(t, 3));
	assert_true(has_report(t, 1000));
	/* All days of a month that was dropped whole count as dropped. */
	publish_kept_from(t, settling_now(&t->s));
	delete_unread_rows(t);
	assert_false(has_report(t, 2));
	assert_true(has_report(t, 3));
}

static void without_a_bound_for_rows_nothing_is_thinned(void **state)
{
	struct settled *t = *state;

	report_october(t);
	store_report(t,
		     (struct report){.hour = SEPTEMBER, .last = 1, .rows = 1});
	settled_drop(t, SEPTEMBER, 5);
	settled_drop(t, OCTOBER, 6);
	delete_unread_rows(t);
	assert_true(has_report(t, 1));
	t->settings.raw_days = 1;
	delete_unread_rows(t);
	assert_false(has_report(t, 1));
}

/* A collector or an import continues after this offset. */
static void the_greatest_offset_of_each_source_stays(void **state)
{
	struct settled *t = *state;

	t->settings.raw_days = 10;
	/* The newest reports have no rows, so they do not give an offset. */
	store_report(t, (struct report){.hour = START, .last = 1000});
	store_report(t,
		     (struct report){.hour = SEPTEMBER, .last = 7, .rows = 1});
	store_report(t,
		     (struct report){.hour = SEPTEMBER, .last = 6, .rows = 1});
	store_report(t, (struct report){.hour = START,
					.last = 1000,
					.topic = "import:a"});
	store_report(t, (struct report){.hour = SEPTEMBER,
					.last = 9,
					.lost = 1,
					.topic = "import:a"});
	settled_drop(t, SEPTEMBER, 5);
	settled_drop(t, OCTOBER, 6);
	delete_unread_rows(t);
	assert_true(has_report(t, 7));
	assert_false(has_report(t, 6));
	assert_true(has_report(t, 9));
}

/* The watermark is computed from these reports. */
static void the_last_three_days_of_each_partition_stay(void **state)
{
	struct settled *t = *state;

	t->settings.raw_days = 10;
	store_report(
		t, (struct report){.hour = SEPTEMBER, .last = 1000, .rows = 1});
	for (int i = 0; i < 4; i++)
		store_report(t, (struct report){.hour = SEPTEMBER - i * DAY,
						.last = (unsigned)i + 1,
						.rows = 1});
	for (int i = 0; i < 4; i++)
		settled_drop(t, SEPTEMBER - i * DAY, 5);
	settled_drop(t, OCTOBER, 6);
	delete_unread_rows(t);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(has_report(t, i + 1), i < 3);
}

/* A late report of an old month stays for two days, even if a clock that was
 * ahead stored the newest report. */
static void reports_that_came_in_the_last_two_days_stay(void **state)
{
	static const int64_t ages[] = {-10 * DAY, DAY, 2 * DAY + 60};
	struct settled *t = *state;

	t->settings.raw_days = 10;
	report_october(t);
	for (unsigned i = 0; i < 3; i++)
		clickhouse_server_do(
			&t->server,
			"INSERT INTO ingest_progress (topic, partition, last, "
			"append_time, inserted_at) SELECT 'clicks', 1, %u, "
			"toDateTime(%" PRId64 ", 'UTC'), now64(3, 'UTC') - "
			"toIntervalSecond(%" PRId64 ")",
			i, SEPTEMBER, ages[i]);
	settled_drop(t, OCTOBER, 6);
	delete_unread_rows(t);
	assert_true(has_report(t, 0));
	assert_true(has_report(t, 1));
	assert_false(has_report(t, 2));
}

/* Reconciliation compares rows with counters, and reads two days further back.
 */
static void counters_of_dropped_hours_go_with_their_month(void **state)
{
	const int64_t last = OCTOBER - 2 * (int64_t)DAY;
	const struct {
		int64_t hour;
		bool dropped, stays;
	} cases[] = {
		{last - HOUR, true, false},
		{last - 30 * HOUR, false, true},
		{last, true, true},
		{OCTOBER + HOUR, true, true},
	};
	struct settled *t = *state;

	t->settings.raw_days = 10;
	for (size_t i = 0; i < 4; i++) {
		clickhouse_server_do(&t->server,
				     "INSERT INTO redirector_counters (hour) "
				     "VALUES (toDateTime(%" PRId64 ", 'UTC'))",
				     cases[i].hour);
		if (cases[i].dropped)
			settled_drop(t, cases[i].hour / DAY * DAY, 5);
	}
	delete_unread_rows(t);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(clickhouse_server_number(
					 &t->server,
					 "SELECT count() FROM "
					 "redirector_counters WHERE hour = "
					 "toDateTime(%" PRId64 ", 'UTC')",
					 cases[i].hour),
				 cases[i].stays);
	publish_kept_from(t, settling_now(&t->s));
	delete_unread_rows(t);
	assert_int_equal(count_rows(t, "redirector_counters", "1"), 2);
}

/* --- the journal of imports ----------------------------------------------- */

/* `age` is in seconds before now. */
static void store_journal_row(struct settled *t, const char *log,
			      unsigned epoch, const char *what, unsigned number,
			      unsigned last, int64_t age)
{
	clickhouse_server_do(
		&t->server,
		"INSERT INTO import_journal (identity, epoch, "
		"what, number, last, at) SELECT '%s', %u, '%s', "
		"%u, %u, now64(6, 'UTC') - toIntervalSecond(%" PRId64 ")",
		log, epoch, what, number, last, age);
}

static uint64_t count_journal(struct settled *t, const char *what,
			      unsigned number, unsigned last)
{
	return clickhouse_server_number(&t->server,
					"SELECT count() FROM import_journal "
					"WHERE what = '%s' AND number = %u AND "
					"last = %u",
					what, number, last);
}

static void runs_before_the_newest_go_in_two_days(void **state)
{
	struct settled *t = *state;

	t->settings.raw_days = 10;
	store_journal_row(t, "a", 1, "run", 1, 0, 2 * DAY + 60);
	store_journal_row(t, "a", 1, "run", 2, 0, 2 * DAY - 60);
	store_journal_row(t, "a", 1, "run", 3, 0, 2 * DAY + 60);
	store_journal_row(t, "b", 1, "run", 2, 0, 2 * DAY + 60);
	delete_unread_rows(t);
	assert_int_equal(count_journal(t, "run", 1, 0), 0);
	assert_int_equal(count_journal(t, "run", 2, 0), 2);
	assert_int_equal(count_journal(t, "run", 3, 0), 1);
}

/* The reports of these batches are thinned, except for the greatest offset. */
static void batches_that_are_done_go_in_two_days(void **state)
{
	struct settled *t = *state;

	t->settings.raw_days = 10;
	store_report(t, (struct report){.hour = START,
					.last = 40,
					.rows = 1,
					.topic = "import:a"});
	store_report(t, (struct report){.hour = START,
					.last = 20,
					.rows = 1,
					.topic = "import:a"});
	store_journal_row(t, "a", 1, "block", 0, 10, 2 * DAY + 60);
	store_journal_row(t, "a", 1, "block", 0, 20,
			  2 * DAY + 60); /* reported */
	store_journal_row(t, "a", 1, "block", 0, 30, 2 * DAY - 60); /* recent */
	store_journal_row(t, "a", 1, "block", 0, 40, 2 * DAY + 60);
	store_journal_row(t, "a", 1, "block", 0, 50,
			  2 * DAY + 60); /* not done */
	store_journal_row(t, "a", 2, "block", 0, 11,
			  2 * DAY + 60); /* another epoch */
	store_journal_row(t, "b", 1, "block", 0, 12,
			  2 * DAY + 60); /* another log */
	delete_unread_rows(t);
	assert_int_equal(count_journal(t, "block", 0, 10), 0);
	assert_int_equal(count_rows(t, "import_journal", "1"), 6);
}

static void batches_of_an_import_that_was_undone_go(void **state)
{
	struct settled *t = *state;

	t->settings.raw_days = 10;
	store_journal_row(t, "a", 1, "block", 0, 10, 2 * DAY + 60);
	store_journal_row(t, "a", 1, "block", 0, 20, 2 * DAY - 60);
	store_journal_row(t, "a", 2, "block", 0, 30, 2 * DAY + 60);
	store_journal_row(t, "b", 1, "block", 0, 40, 2 * DAY + 60);
	store_journal_row(t, "a", 1, "undone", 0, 0, 2 * DAY + 60);
	delete_unread_rows(t);
	assert_int_equal(count_journal(t, "block", 0, 10), 0);
	assert_int_equal(count_rows(t, "import_journal", "1"), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SETTLED_TEST(
			a_month_is_dropped_once_its_last_day_is_old_enough),
		SETTLED_TEST(nothing_is_dropped_before_1970),
		SETTLED_TEST(a_month_without_settled_hours_is_not_dropped),
		SETTLED_TEST(a_month_with_rows_of_clicks_is_not_dropped),
		SETTLED_TEST(what_happens_meanwhile_keeps_the_month),
		SETTLED_TEST(without_the_lease_no_month_is_dropped),
		SETTLED_TEST(months_are_deleted_once_no_query_reads_them),
		SETTLED_TEST(what_settling_goes_on_from_is_not_deleted),
		SETTLED_TEST(reports_of_months_whose_days_are_dropped_go),
		SETTLED_TEST(without_a_bound_for_rows_nothing_is_thinned),
		SETTLED_TEST(the_greatest_offset_of_each_source_stays),
		SETTLED_TEST(the_last_three_days_of_each_partition_stay),
		SETTLED_TEST(reports_that_came_in_the_last_two_days_stay),
		SETTLED_TEST(counters_of_dropped_hours_go_with_their_month),
		SETTLED_TEST(runs_before_the_newest_go_in_two_days),
		SETTLED_TEST(batches_that_are_done_go_in_two_days),
		SETTLED_TEST(batches_of_an_import_that_was_undone_go),
	};

	return cmocka_run_group_tests(tests, settled_open, settled_close);
}
