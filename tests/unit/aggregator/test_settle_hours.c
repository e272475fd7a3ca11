#include "tests/unit/aggregator/settled.h"

#include "aggregator/settle/hour_settlement.h"
#include "aggregator/settle/hour_turns.h"
#include "aggregator/settle/settle_sql.h"

#define TWO 2

/* --- queries ----------------------------------------------------------------
 */

static struct stale stale_hour(int64_t start, uint64_t rows)
{
	return (struct stale){.start = start, .blocks = 3, .rows = rows};
}

/* An hour with this many reported rows has a statement of its own. */
#define MANY_ROWS 1500000

static struct settle_count settle_hours(struct settled *t,
					const struct stale *hours, size_t count,
					int64_t until, int status,
					struct error *err)
{
	struct settle_count n;

	*err = (struct error){0};
	assert_int_equal(hours_settle(&t->s, hours, count, until, NULL,
				      &t->last, &n, err),
			 status);
	return n;
}

/* Settles one or two hours of this many reported rows, with a statement for
 * each. */
static struct settle_count settle_two(struct settled *t, int status,
				      struct error *err)
{
	const struct stale hours[TWO] = {stale_hour(START, MANY_ROWS),
					 stale_hour(START + HOUR, MANY_ROWS)};

	return settle_hours(t, hours, TWO, INT64_MAX, status, err);
}

static struct settle_count settle_one(struct settled *t, uint64_t reported,
				      int status, struct error *err)
{
	const struct stale hour = stale_hour(START, reported);

	return settle_hours(t, &hour, 1, INT64_MAX, status, err);
}

static void assert_published(struct settled *t, const char *starts)
{
	assert_string_equal(
		clickhouse_server_ask(&t->server,
				      "SELECT groupArray(h) FROM (SELECT "
				      "toUInt32(unit) - %" PRId64
				      " AS h FROM settled "
				      "WHERE kind = 'hour' ORDER BY h)",
				      START),
		starts);
}

/* --- publication ------------------------------------------------------------
 */

static void insert_of_all_kinds(struct settled *t)
{
	const int64_t first = START * CLOCK_SECOND;
	const struct clicks all[] = {
		{first - 1, 90, 1, "redirected", "human", 9, 9},
		{first, 5, 1, "redirected", "human", 3, 2},
		{first, 4, 1, "redirected", "bot", 4, 1},
		{first + 1, 2, 2, "redirected", "prefetch", 1, 1},
		{first + 2, 1, 2, "redirected", "preview", 1, 1},
		{first + 899999, 6, 0, "not_found", "human", 6, 6},
		{first + 900000, 7, 2, "redirected", "human", 7, 5},
		{first + 900000, 1, 2, "expired", "bot", 1, 1},
		{first + 3599999, 3, 3, "redirected", "prefetch", 3, 3},
		{first + 3600000, 80, 1, "redirected", "human", 8, 8},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		settled_insert(t, all[i]);
}

/* Returns the slot, visitors, addresses, and those of people, of rows. */
static const char *states_of(struct settled *t, const char *which)
{
	return clickhouse_server_ask(
		&t->server,
		"SELECT toUInt32(slot) - %" PRId64
		" AS s, uniqCombinedMerge(14)(people + others), "
		"uniqCombinedMerge(14)(people_ips + others_ips), "
		"uniqCombinedMerge(14)(people), "
		"uniqCombinedMerge(14)(people_ips) "
		"FROM stats_hourly WHERE %s GROUP BY s ORDER BY s",
		START, which);
}

static void an_hour_has_each_figure_of_its_rows(void **state)
{
	struct settled *t = *state;
	struct error err;
	struct settle_count n;

	insert_of_all_kinds(t);
	n = settle_one(t, 29, 0, &err);
	assert_int_equal(n.done, 1);
	assert_int_equal(n.published, 1);
	assert_int_equal(n.added, 0);
	assert_int_equal(t->shortages, 0);
	/* slot; events, clicks, bots, prefetches; visitors, ips, of people */
	assert_string_equal(
		clickhouse_server_ask(
			&t->server,
			"SELECT toUInt32(slot) - %" PRId64
			" AS s, sum(events), sum(clicks), sum(bots), "
			"sum(prefetches), any(value), any(rest), any(emptied) "
			"FROM stats_hourly "
			"WHERE dimension = 'total' GROUP BY s ORDER BY s",
			START),
		"0\t18\t12\t5\t2\t\tfalse\tfalse\n"
		"900\t8\t7\t0\t0\t\tfalse\tfalse\n"
		"2700\t3\t3\t0\t3\t\tfalse\tfalse");
	assert_string_equal(states_of(t, "dimension = 'verdict'"),
			    "0\t9\t5\t3\t2\n900\t7\t5\t7\t5\n"
			    "2700\t3\t3\t0\t0");
	assert_string_equal(states_of(t, "dimension = 'country'"),
			    "0\t9\t0\t3\t0\n900\t7\t0\t7\t0\n"
			    "2700\t3\t0\t0\t0");
	assert_string_equal(states_of(t,
				      "dimension NOT IN ('verdict', 'country', "
				      "'device_class', 'channel')"),
			    "0\t0\t0\t0\t0\n900\t0\t0\t0\t0\n2700\t0\t0\t0\t0");
	assert_string_equal(
		clickhouse_server_ask(
			&t->server,
			"SELECT value, sum(events), sum(clicks), sum(bots), "
			"sum(prefetches), any(rest) FROM stats_hourly "
			"WHERE dimension = 'link' GROUP BY value "
			"ORDER BY value"),
		"0\t6\t0\t0\t0\tfalse\n1\t9\t9\t4\t0\tfalse\n"
		"2\t11\t10\t1\t2\tfalse\n3\t3\t3\t0\t3\tfalse");
	assert_string_equal(
		clickhouse_server_ask(
			&t->server,
			"SELECT toUInt32(unit) - %" PRId64
			", blocks, rows, provisional, "
			"toUnixTimestamp64Milli(read_until), "
			"toUnixTimestamp64Milli(complete_until), settler, "
			"attempt = (SELECT max(attempt) FROM stats_hourly), "
			"abs(dateDiff('second', settled_at, now())) < 60 "
			"FROM settled WHERE kind = 'hour'",
			START),
		"0\t3\t29\tfalse\t1792900000123\t1792890000456\ta tester\t1\t"
		"1");
}

/* Two values are kept; the other values share one row for each slot. */
static void the_busiest_values_of_the_hour_are_kept(void **state)
{
	struct settled *t = *state;
	struct error err;
	const int64_t at = START * CLOCK_SECOND;

	/* Link 5 is the busiest of the hour, but of no slot. */
	settled_insert(t,
		       (struct clicks){at, 3, 5, "redirected", "human", 1, 1});
	settled_insert(t, (struct clicks){at, 4, 6, "redirected", "bot", 1, 1});
	settled_insert(t, (struct clicks){at, 2, 7, "not_found", "bot", 1, 1});
	settled_insert(
		t, (struct clicks){at, 1, 8, "redirected", "prefetch", 1, 1});
	settled_insert(t, (struct clicks){at + 900000, 3, 5, "redirected",
					  "human", 1, 1});
	settled_insert(t, (struct clicks){at + 900000, 2, 8, "redirected",
					  "bot", 1, 1});
	t->settings.values_max = 2;
	settle_one(t, 15, 0, &err);
	assert_string_equal(
		clickhouse_server_ask(
			&t->server,
			"SELECT toUInt32(slot) - %" PRId64
			" AS s, value, rest, events, clicks, bots, prefetches "
			"FROM stats_hourly WHERE dimension = 'link' "
			"ORDER BY s, rest, value",
			START),
		"0\t5\tfalse\t3\t3\t0\t0\n0\t6\tfalse\t4\t4\t4\t0\n"
		"0\t\ttrue\t3\t1\t0\t1\n900\t5\tfalse\t3\t3\t0\t0\n"
		"900\t\ttrue\t2\t2\t2\t0");
	assert_published(t, "[0]");
}

/* --- selection of hours -----------------------------------------------------
 */

static const char *count_attempts(struct settled *t)
{
	return clickhouse_server_ask(
		&t->server, "SELECT uniqExact(attempt) FROM stats_hourly");
}

static void hours_of_few_rows_are_computed_together(void **state)
{
	struct settled *t = *state;
	struct stale hours[] = {stale_hour(START, MANY_ROWS - 1),
				stale_hour(START + HOUR, 1)};
	struct settle_count n;
	struct error err;

	settled_insert_some(t, START, 4);
	settled_insert_some(t, START + HOUR, 5);
	n = settle_hours(t, hours, TWO, INT64_MAX, 0, &err);
	assert_int_equal(n.published, 2);
	assert_string_equal(count_attempts(t), "1");
	hours[1].rows++;
	n = settle_hours(t, hours, TWO, INT64_MAX, 0, &err);
	assert_int_equal(n.published, 2);
	assert_string_equal(count_attempts(t), "3");
	/* The time is over after the first statement. */
	n = settle_hours(t, hours, TWO, 0, 0, &err);
	assert_int_equal(n.done, 1);
	assert_int_equal(n.published, 1);
	/* The first attempt would become too old by then. */
	t->settings.keep_superseded = 0;
	n = settle_hours(t, hours, 1, INT64_MAX, -1, &err);
	assert_int_equal(err.code, ERROR_LATE);
}

static void a_day_of_hours_is_published_at_once(void **state)
{
	struct settled *t = *state;
	struct stale hours[25];
	struct settle_count n;
	struct error err;

	for (size_t i = 0; i < 25; i++) {
		int64_t start = START + (int64_t)i * HOUR;

		hours[i] = stale_hour(start, 1);
		settled_insert_some(t, start, 1);
	}
	n = settle_hours(t, hours, 25, INT64_MAX, 0, &err);
	assert_int_equal(n.done, 24);
	assert_int_equal(n.published, 24);
	n = settle_hours(t, hours, 0, INT64_MAX, 0, &err);
	assert_int_equal(n.done, 0);
	/* An hour of a dropped day has a statement of its own. */
	hours[1].dropped = 9;
	n = settle_hours(t, hours, 25, INT64_MAX, 0, &err);
	assert_int_equal(n.done, 1);
}

static void nothing_is_computed_after_it_was_told_to_stop(void **state)
{
	struct settled *t = *state;
	struct settle_count n;
	struct error err;

	settled_insert_some(t, START, 4);
	settled_insert_some(t, START + HOUR, 5);
	t->stops = true;
	n = settle_one(t, 4, -1, &err);
	assert_int_equal(err.code, ERROR_STOPPED);
	assert_int_equal(n.published, 0);
	assert_string_equal(count_attempts(t), "0");
	t->stopping_at = 2;
	n = settle_two(t, -1, &err);
	assert_int_equal(err.code, ERROR_STOPPED);
	assert_int_equal(n.done, 2);
	assert_string_equal(count_attempts(t), "1");
	assert_published(t, "[]");
}

/* A constraint refuses the hour, as a limit of the server could. */
static void refuse_hour(struct settled *t, int64_t start)
{
	clickhouse_server_do(&t->server,
			     "ALTER TABLE stats_hourly DROP CONSTRAINT IF "
			     "EXISTS refused");
	if (start)
		clickhouse_server_do(
			&t->server,
			"ALTER TABLE stats_hourly ADD CONSTRAINT refused "
			"CHECK toUInt32(hour) != %" PRId64,
			start);
}

static void what_was_computed_before_one_that_fails_is_published(void **state)
{
	struct settled *t = *state;
	struct settle_count n;
	struct error err;

	settled_insert_some(t, START, 4);
	settled_insert_some(t, START + HOUR, 5);
	refuse_hour(t, START + HOUR);
	n = settle_two(t, 0, &err);
	assert_int_equal(n.done, 1);
	assert_int_equal(n.published, 1);
	assert_published(t, "[0]");
	refuse_hour(t, START);
	n = settle_two(t, -1, &err);
	assert_int_equal(n.done, 1);
	assert_int_equal(n.published, 0);
	refuse_hour(t, 0);
	assert_published(t, "[0]");
}

/* The watermark waits for the hour. */
static void one_that_fails_keeps_no_other_from_its_turn(void **state)
{
	struct settled *t = *state;
	struct stale hours[] = {stale_hour(START, 4),
				stale_hour(START + HOUR, 5),
				stale_hour(START + 2 * HOUR, 6)};
	struct stale_list all = {hours, 3}, one = {&hours[1], 1};
	struct hour_turns turns;
	struct hours_settled n;
	struct error first = {0}, err = {0};

	for (int i = 0; i < 3; i++)
		settled_insert_some(t, START + i * HOUR, 4);
	t->settings.settle_every = CLOCK_HOUR;
	t->last.complete_until = 0;
	hour_turns_init(&turns);
	refuse_hour(t, START + HOUR);
	assert_int_equal(hour_turns_take(&turns, &t->s, &all, NULL, &t->last,
					 &n, &first, &err),
			 0);
	assert_int_equal(n.hours, 2);
	assert_int_equal(n.left, 1);
	assert_false(n.more);
	assert_int_equal(n.left_from, START + HOUR);
	assert_int_not_equal(first.code, 0);
	assert_published(t, "[0,7200]");
	refuse_hour(t, 0);
	first = (struct error){0};
	assert_int_equal(hour_turns_take(&turns, &t->s, &one, NULL, &t->last,
					 &n, &first, &err),
			 0);
	assert_int_equal(n.hours, 1);
	assert_int_equal(n.left, 0);
	assert_true(n.left_from == INT64_MAX);
	assert_int_equal(first.code, 0);
}

/* --- changes between statements ---------------------------------------------
 */

static void insert_in_two(struct settled *t)
{
	settled_insert_some(t, START, 4);
	settled_insert_some(t, START + HOUR, 5);
}

/* One hour loses the same rows in all dimensions. */
static void lose_evenly(struct settled *t)
{
	clickhouse_server_do(&t->server,
			     "ALTER TABLE stats_hourly UPDATE events = "
			     "events - 1 WHERE toUInt32(hour) = %" PRId64
			     " SETTINGS mutations_sync = 1",
			     START);
}

static void double_evenly(struct settled *t)
{
	clickhouse_server_do(&t->server,
			     "INSERT INTO stats_hourly SELECT * FROM "
			     "stats_hourly WHERE toUInt32(hour) = %" PRId64,
			     START);
}

static void lose_all(struct settled *t)
{
	clickhouse_server_do(&t->server, "TRUNCATE TABLE stats_hourly");
}

static void lose_of_one_dimension(struct settled *t)
{
	clickhouse_server_do(
		&t->server,
		"ALTER TABLE stats_hourly DELETE WHERE "
		"dimension = 'account' AND toUInt32(hour) = %" PRId64
		" SETTINGS mutations_sync = 1",
		START);
}

/* The dimension is there, but has fewer rows. */
static void lose_one_of_one_dimension(struct settled *t)
{
	clickhouse_server_do(&t->server,
			     "ALTER TABLE stats_hourly UPDATE events = "
			     "events - 1 WHERE dimension = 'account' AND "
			     "toUInt32(hour) = %" PRId64
			     " SETTINGS mutations_sync = 1",
			     START);
}

static void what_changes_before_it_is_compared_is_not_published(void **state)
{
	struct settled *t = *state;
	static const struct {
		void (*act)(struct settled *t);
		const char *text;
	} acts[] = {
		{lose_evenly, "3 events were staged of 4 to 4 rows"},
		{double_evenly, "8 events were staged of 4 to 4 rows"},
		{lose_all, "0 events were staged of 4 to 4 rows"},
		{lose_of_one_dimension, "its dimensions hold different"},
		{lose_one_of_one_dimension, "its dimensions hold different"},
	};

	insert_in_two(t);
	for (size_t i = 0; i < sizeof(acts) / sizeof(*acts); i++) {
		struct settle_count n;
		struct error err;

		lose_all(t);
		t->on_stopping = acts[i].act;
		t->stopping_at = 2;
		n = settle_two(t, -1, &err);
		assert_int_equal(err.code, ERROR_PROTOCOL);
		assert_non_null(strstr(err.text, acts[i].text));
		assert_int_equal(n.done, 2);
		assert_int_equal(n.published, 0);
		assert_published(t, "[]");
	}
}

/* These rows may be among the staged ones, or not. */
static void rows_that_come_while_it_is_computed_are_no_fault(void **state)
{
	struct settled *t = *state;
	struct error err;

	insert_in_two(t);
	t->on_stopping = settled_rows_come;
	t->stopping_at = 2;
	assert_int_equal(settle_two(t, 0, &err).published, 2);
	t->on_stopping = settled_rows_come;
	t->stopping_at = 1;
	assert_int_equal(settle_two(t, 0, &err).published, 2);
}

static void rows_go(struct settled *t)
{
	clickhouse_server_do(&t->server,
			     "ALTER TABLE clicks DELETE WHERE offset = 0 "
			     "SETTINGS mutations_sync = 1");
}

static void rows_that_go_while_it_is_computed_are(void **state)
{
	struct settled *t = *state;
	struct error err;

	insert_in_two(t);
	t->on_stopping = rows_go;
	t->stopping_at = 1;
	settle_two(t, -1, &err);
	assert_non_null(strstr(err.text, "3 events were staged of 4 to 3"));
	assert_published(t, "[]");
}

static void what_changes_after_it_was_compared_is_not_published(void **state)
{
	struct settled *t = *state;
	static void (*const acts[])(struct settled * t) = {
		lose_evenly, double_evenly, lose_of_one_dimension,
		lose_one_of_one_dimension};

	insert_in_two(t);
	for (size_t i = 0; i < sizeof(acts) / sizeof(*acts); i++) {
		struct settle_count n;
		struct error err;

		lose_all(t);
		clickhouse_server_do(&t->server, "TRUNCATE TABLE settled");
		t->on_lease = acts[i];
		t->lease_at = 1;
		n = settle_two(t, -1, &err);
		assert_int_equal(err.code, ERROR_PROTOCOL);
		assert_non_null(strstr(err.text, "1 of 2 hours are what was"));
		assert_int_equal(n.published, 0);
		/* The other hour is correct, and is published. */
		assert_published(t, "[3600]");
	}
	clickhouse_server_do(&t->server, "TRUNCATE TABLE settled");
	{
		struct error err;

		t->on_lease = lose_all;
		t->lease_at = 1;
		settle_two(t, -1, &err);
		assert_non_null(strstr(err.text, "0 of 2 hours are what was"));
		assert_published(t, "[]");
	}
}

static void nothing_is_published_without_the_lease(void **state)
{
	struct settled *t = *state;
	const struct stale held = {
		.start = START, .rows = 9, .was_rows = 4, .was = true};
	struct error err;

	insert_in_two(t);
	t->lost = true;
	assert_int_equal(settle_two(t, -1, &err).published, 0);
	assert_int_equal(err.code, ERROR_STOPPED);
	settle_hours(t, &held, 1, INT64_MAX, -1, &err);
	assert_string_equal(clickhouse_server_ask(
				    &t->server, "SELECT count() FROM settled"),
			    "0");
	assert_string_equal(count_attempts(t), "3");
}

static void an_attempt_that_is_too_old_is_not_published(void **state)
{
	struct settled *t = *state;
	struct settle_count n;
	struct error err;

	settled_insert_some(t, START, 4);
	t->on_lease = settled_time_passes;
	t->lease_at = 1;
	n = settle_one(t, 4, -1, &err);
	assert_int_equal(err.code, ERROR_LATE);
	assert_int_equal(n.published, 0);
	assert_published(t, "[]");
}

/* By our clock, which is wrong, the attempt's number is of yesterday. */
static void the_server_looks_at_its_age_too(void **state)
{
	struct settled *t = *state;
	struct error err;

	settled_insert_some(t, START, 4);
	t->s.clock.server_ms -= CLOCK_DAY;
	t->last.attempt = 0;
	settle_one(t, 4, -1, &err);
	assert_non_null(strstr(err.text, "0 of 1 hours are what was counted"));
	assert_published(t, "[]");
}

static void drop_its_day_and_rows(struct settled *t)
{
	settled_drop_its_day(t);
	rows_go(t);
}

static void hours_of_a_day_that_is_dropped_meanwhile_are_left(void **state)
{
	struct settled *t = *state;
	struct settle_count n;
	struct error err;

	insert_in_two(t);
	for (int i = 0; i < 2; i++) {
		/* Missing rows are no fault in this case. */
		t->on_stopping = drop_its_day_and_rows;
		t->on_lease = settled_drop_its_day;
		t->stopping_at = i ? 0 : 2;
		t->lease_at = i;
		clickhouse_server_do(&t->server, "TRUNCATE TABLE settled");
		n = settle_two(t, -1, &err);
		assert_int_equal(err.code, ERROR_CONFLICT);
		assert_true(err.retriable);
		assert_int_equal(n.published, 0);
		assert_published(t, "[]");
	}
	/* This includes the last hour of the day. */
	{
		const struct stale last = stale_hour(START + 23 * HOUR, 2);

		settled_insert_some(t, last.start, 2);
		settle_hours(t, &last, 1, INT64_MAX, -1, &err);
		assert_int_equal(err.code, ERROR_CONFLICT);
	}
	clickhouse_server_do(&t->server, "TRUNCATE TABLE settled");
	t->on_lease = settled_drop_another_day;
	t->lease_at = 1;
	assert_int_equal(settle_two(t, 0, &err).published, 2);
}

/* --- hours that lack rows ---------------------------------------------------
 */

static void an_hour_that_lacks_rows_is_held_back(void **state)
{
	struct settled *t = *state;
	struct stale hours[TWO] = {stale_hour(START, 4),
				   stale_hour(START + HOUR, 5)};
	struct settle_count n;
	struct error err;

	insert_in_two(t);
	settle_hours(t, hours, TWO, INT64_MAX, 0, &err);
	rows_go(t);
	hours[0].was = hours[1].was = true;
	hours[0].was_rows = 4;
	hours[1].was_rows = 5;
	n = settle_hours(t, hours, TWO, INT64_MAX, 0, &err);
	assert_int_equal(n.done, 2);
	assert_int_equal(n.published, 1);
	assert_int_equal(t->shortages, 1);
	assert_true(t->shortage.held && !t->shortage.day);
	assert_int_equal(t->shortage.start, START);
	assert_int_equal(t->shortage.before, 4);
	assert_int_equal(t->shortage.reported, 4);
	assert_int_equal(t->shortage.rows, 3);
	assert_published(t, "[0,3600,3600]");
	assert_string_equal(
		clickhouse_server_ask(&t->server,
				      "SELECT toUInt32(unit) - %" PRId64
				      ", blocks, rows, attempt = (SELECT "
				      "max(attempt) FROM stats_hourly) "
				      "FROM settled WHERE kind = 'held_hour'",
				      START),
		"0\t3\t4\t1");
	t->s.allow_fewer = true;
	n = settle_hours(t, hours, TWO, INT64_MAX, 0, &err);
	assert_int_equal(n.published, 2);
	assert_int_equal(t->shortages, 2);
	assert_false(t->shortage.held);
}

static void rows_that_were_missing_at_first_are_told_once(void **state)
{
	struct settled *t = *state;
	struct stale hour = stale_hour(START, 5);
	struct error err;

	settled_insert_some(t, START, 4);
	assert_int_equal(settle_one(t, 5, 0, &err).published, 1);
	assert_int_equal(t->shortages, 1);
	assert_false(t->shortage.held);
	hour.was = true;
	hour.was_rows = 5;
	settle_hours(t, &hour, 1, INT64_MAX, 0, &err);
	assert_int_equal(t->shortages, 1);
	hour.rows = 6;
	settle_hours(t, &hour, 1, INT64_MAX, 0, &err);
	assert_int_equal(t->shortages, 2);
	assert_true(t->shortage.held);
}

/* --- events that were sent twice --------------------------------------------
 */

/* The last event without a repeat is repeated, and the repeat is marked. */
static void event_comes_again(struct settled *t)
{
	t->next_offset--;
	clickhouse_server_do(
		&t->server,
		"INSERT INTO clicks SELECT * REPLACE (offset + 1000 AS offset, "
		"true AS maybe_sent, append_time + 1 AS append_time) "
		"FROM (SELECT * FROM clicks WHERE offset = %" PRIu64 ")",
		t->next_offset);
}

static void assert_counted(struct settled *t, const char *expected)
{
	assert_string_equal(
		clickhouse_server_ask(
			&t->server,
			"SELECT sum(events), sum(clicks) FROM stats_hourly "
			"WHERE dimension = 'total' AND (hour, attempt) IN "
			"(SELECT unit, max(attempt) FROM settled WHERE "
			"kind = 'hour' GROUP BY unit)"),
		expected);
}

static void an_event_that_was_sent_twice_is_one_click(void **state)
{
	struct settled *t = *state;
	struct error err;

	settled_insert_some(t, START, 4);
	event_comes_again(t);
	settle_one(t, 5, 0, &err);
	assert_counted(t, "5\t4");
	assert_int_equal(t->repeats, 1);
	assert_string_equal(count_attempts(t), "1");
}

/* The rows of the hour already have the repeat, the list of rows that are no
 * clicks does not have it yet. */
static void one_that_comes_while_it_is_computed_is_too(void **state)
{
	struct settled *t = *state;
	struct error err;

	settled_insert_some(t, START, 4);
	t->on_stopping = event_comes_again;
	t->stopping_at = 1;
	settle_one(t, 4, 0, &err);
	assert_counted(t, "5\t4");
	assert_string_equal(count_attempts(t), "2");
}

static void another_marks_it(struct settled *t)
{
	clickhouse_server_do(&t->server,
			     "ALTER TABLE clicks UPDATE outcome = 'repeated' "
			     "WHERE offset = 1 SETTINGS mutations_sync = 1");
}

static void rows_that_another_marks_meanwhile_are_no_clicks(void **state)
{
	struct settled *t = *state;
	struct error err;

	insert_in_two(t);
	t->on_stopping = another_marks_it;
	t->stopping_at = 2;
	settle_two(t, 0, &err);
	assert_counted(t, "9\t8");
	assert_string_equal(count_attempts(t), "4");
}

static void and_again(struct settled *t)
{
	const char *unmarked = clickhouse_server_ask(
		&t->server, "SELECT count() FROM clicks WHERE maybe_sent AND "
			    "outcome != 'repeated'");

	/* The settler checks before it computes, and before it marks. */
	if (!strcmp(unmarked, "0"))
		event_comes_again(t);
	t->stopping_at = 1;
}

static void events_that_turn_up_for_ever_are_not_settled(void **state)
{
	struct settled *t = *state;
	struct error err;

	settled_insert_some(t, START, 20);
	t->on_stopping = and_again;
	t->stopping_at = 1;
	settle_one(t, 20, -1, &err);
	t->stopping_at = 0;
	assert_int_equal(err.code, ERROR_CONFLICT);
	assert_non_null(strstr(err.text, "again and again"));
	assert_published(t, "[]");
	assert_string_equal(count_attempts(t), "8");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SETTLED_TEST(an_hour_has_each_figure_of_its_rows),
		SETTLED_TEST(the_busiest_values_of_the_hour_are_kept),
		SETTLED_TEST(hours_of_few_rows_are_computed_together),
		SETTLED_TEST(a_day_of_hours_is_published_at_once),
		SETTLED_TEST(nothing_is_computed_after_it_was_told_to_stop),
		SETTLED_TEST(
			what_was_computed_before_one_that_fails_is_published),
		SETTLED_TEST(one_that_fails_keeps_no_other_from_its_turn),
		SETTLED_TEST(
			what_changes_before_it_is_compared_is_not_published),
		SETTLED_TEST(rows_that_come_while_it_is_computed_are_no_fault),
		SETTLED_TEST(rows_that_go_while_it_is_computed_are),
		SETTLED_TEST(
			what_changes_after_it_was_compared_is_not_published),
		SETTLED_TEST(nothing_is_published_without_the_lease),
		SETTLED_TEST(an_attempt_that_is_too_old_is_not_published),
		SETTLED_TEST(the_server_looks_at_its_age_too),
		SETTLED_TEST(hours_of_a_day_that_is_dropped_meanwhile_are_left),
		SETTLED_TEST(an_hour_that_lacks_rows_is_held_back),
		SETTLED_TEST(rows_that_were_missing_at_first_are_told_once),
		SETTLED_TEST(an_event_that_was_sent_twice_is_one_click),
		SETTLED_TEST(one_that_comes_while_it_is_computed_is_too),
		SETTLED_TEST(rows_that_another_marks_meanwhile_are_no_clicks),
		SETTLED_TEST(events_that_turn_up_for_ever_are_not_settled),
	};

	return cmocka_run_group_tests(tests, settled_open, settled_close);
}
