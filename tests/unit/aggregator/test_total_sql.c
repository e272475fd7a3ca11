/* Questions about all links: settled hours, rolled days, values of days. */
#include "tests/unit/aggregator/asked_sql.h"

#include "aggregator/api/published_hours.h"
#include "aggregator/api/statistics/clicks_sql.h"
#include "aggregator/api/statistics/total_sql.h"
#include "aggregator/settle/hour_settlement.h"

static void settle_all(struct settled *t)
{
	struct settle_count n;
	struct error err = {0};
	struct stale hours[4];

	for (size_t i = 0; i < 4; i++)
		hours[i] = (struct stale){.start = START + (int64_t)i * HOUR,
					  .rows = 1};
	assert_int_equal(hours_settle(&t->s, hours, 4, INT64_MAX, NULL,
				      &t->last, &n, &err),
			 0);
	assert_int_equal(n.published, 4);
}

/* The rows of that attempt count ten times as much. */
static void publish_again(struct settled *t, const char *kind)
{
	clickhouse_server_do(
		&t->server,
		"INSERT INTO stats_hourly SELECT * REPLACE (attempt + 1 AS "
		"attempt, events * 10 AS events) FROM (SELECT * FROM "
		"stats_hourly WHERE dimension IN ('total', 'verdict'))");
	clickhouse_server_do(
		&t->server,
		"INSERT INTO settled SELECT * REPLACE ('%s' AS kind, attempt + "
		"1 AS attempt) FROM (SELECT * FROM settled WHERE kind = "
		"'hour')",
		kind);
}

static void hours_are_counted_as_rows_are(void **state)
{
	struct settled *t = *state;
	const struct copied_days none = {0};
	const struct total_sources from = {.rolled = &none};
	struct lists lists = no_days;
	char expected[200];

	insert_all(t);
	settle_all(t);
	snprintf(expected, sizeof(expected),
		 "bucket\t%" PRId64 "\t\t\t19\t18\t4\t2\t7\t5\n"
		 "bucket\t%" PRId64 "\t\t\t4\t4\t1\t0\t3\t3\n"
		 "total\t0\t\t\t23\t22\t5\t2\t7\t5\n",
		 FROM, FROM + HOUR);
	for (int i = 0; i < 2; i++) {
		struct question q = question_of(BOTS_EXCLUDE);
		struct buf sql = {0};

		total_sql_clicks(&sql, &q, &two_hours, &from);
		assert_string_equal(ask_sorted(t, &q, &sql, &lists), expected);
		/* An attempt that is not published is not read. */
		publish_again(t, "held_hour");
	}
	/* An attempt that was published after the requested one is not read
	 * either. */
	lists.attempt =
		strtoull(clickhouse_server_ask(
				 &t->server, "SELECT max(attempt) FROM settled "
					     "WHERE kind = 'hour'"),
			 NULL, 10);
	publish_again(t, "hour");
	{
		struct question q = question_of(BOTS_EXCLUDE);
		struct buf sql = {0};

		total_sql_clicks(&sql, &q, &two_hours, &from);
		assert_string_equal(ask_sorted(t, &q, &sql, &lists), expected);
	}
}

static void an_hour_that_is_published_again_has_its_new_counts(void **state)
{
	struct settled *t = *state;
	const struct copied_days none = {0};
	const struct total_sources from = {.rolled = &none};
	struct question q = question_of(BOTS_EXCLUDE);
	struct buf sql = {0};

	insert_all(t);
	settle_all(t);
	publish_again(t, "hour");
	total_sql_clicks(&sql, &q, &one, &from);
	assert_string_equal(ask_sorted(t, &q, &sql, &no_days),
			    "total\t0\t\t\t230\t22\t5\t2\t7\t5\n");
}

static void countries_that_have_most_have_their_visitors(void **state)
{
	static const char *const expected[] = {
		"group\t0\t\t\t23\t22\t5\t2\t7\t\\N\n"
		"total\t0\t\t\t34\t33\t9\t2\t7\t5\n",
		"group\t0\t\t\t23\t22\t5\t2\t7\t\\N\n"
		"group\t0\tFR\t\t11\t11\t4\t0\t7\t\\N\n"
		"total\t0\t\t\t34\t33\t9\t2\t7\t5\n",
	};
	struct settled *t = *state;
	const struct copied_days none = {0};
	const struct total_sources from = {.rolled = &none};
	struct question q = question_of(BOTS_EXCLUDE);
	struct lists lists = no_days;

	insert_all(t);
	copy_bobs(t, "country", "'FR'");
	settle_all(t);
	q.group_by[q.group_by_count++] = dimension_find("country");
	for (lists.limit = 1; lists.limit <= 2; lists.limit++) {
		struct buf sql = {0};

		total_sql_clicks(&sql, &q, &one, &from);
		assert_string_equal(ask_sorted(t, &q, &sql, &lists),
				    expected[lists.limit - 1]);
	}
}

static void where_nothing_was_published_there_are_no_hours(void **state)
{
	struct settled *t = *state;
	struct published_hours hours;
	struct progress last;
	struct error err = {0};

	insert_all(t);
	assert_int_equal(
		published_hours_read(t->s.ch, FROM, TO, &last, &hours, &err),
		0);
	assert_int_equal(hours.count, 0);
	published_hours_release(&hours);
}

/* A range that begins and ends within hours is counted by their slots. */
static void parts_of_hours_are_counted_by_slots(void **state)
{
	struct settled *t = *state;
	const struct copied_days none = {0};
	const struct total_sources from = {.rolled = &none};
	static const struct {
		int64_t from, to;
		const char *expected;
	} ranges[] = {
		{FROM + 900, FROM + 2700, "total\t0\t\t\t0\t0\t0\t0\t0\t0\n"},
		{FROM + 900, FROM + 3600, "total\t0\t\t\t7\t7\t0\t0\t7\t5\n"},
		{FROM, FROM + 900, "total\t0\t\t\t12\t11\t4\t2\t3\t2\n"},
	};

	insert_all(t);
	settle_all(t);
	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++) {
		struct question q = {.from = ranges[i].from,
				     .to = ranges[i].to};
		struct buckets bucket = {(int64_t[]){ranges[i].from}, 1};
		struct buf sql = {0};

		total_sql_clicks(&sql, &q, &bucket, &from);
		assert_string_equal(ask_sorted(t, &q, &sql, &no_days),
				    ranges[i].expected);
	}
}

static void hours_that_are_listed_are_counted_alike(void **state)
{
	struct settled *t = *state;
	const struct copied_days none = {0};
	const struct total_sources from = {.rolled = &none, .listed = true};
	struct published_hours hours;
	struct buf starts = {0}, attempts = {0}, sql = {0};
	struct question q = question_of(BOTS_ONLY);
	struct lists lists = no_days;
	struct progress last;
	char text[64];
	struct error err = {0};

	insert_all(t);
	settle_all(t);
	publish_again(t, "held_hour");
	assert_int_equal(published_hours_read(t->s.ch, q.from + 900, q.to,
					      &last, &hours, &err),
			 0);
	assert_int_equal(hours.count, 2);
	assert_int_equal(hours.items[0].start, FROM);
	assert_int_equal(hours.items[1].start, FROM + HOUR);
	assert_int_equal(published_hours_put(&hours, &starts, &attempts, &err),
			 0);
	snprintf(text, sizeof(text), "[%" PRId64 ",%" PRId64 "]", FROM,
		 FROM + HOUR);
	assert_string_equal(starts.data, text);
	lists.hours = starts.data;
	lists.hour_attempts = attempts.data;
	total_sql_clicks(&sql, &q, &one, &from);
	assert_string_equal(ask_sorted(t, &q, &sql, &lists),
			    "total\t0\t\t\t23\t22\t5\t2\t5\t2\n");
	q.bots = BOTS_INCLUDE;
	q.group_by[q.group_by_count++] = dimension_find("verdict");
	total_sql_clicks(&sql, &q, &one, &from);
	assert_string_equal(ask_sorted(t, &q, &sql, &lists),
			    "group\t0\tbot\t\t5\t5\t5\t0\t4\t1\n"
			    "group\t0\thuman\t\t16\t15\t0\t0\t7\t5\n"
			    "group\t0\tprefetch\t\t2\t2\t0\t2\t1\t1\n"
			    "total\t0\t\t\t23\t22\t5\t2\t12\t7\n");
	buf_free(&starts);
	buf_free(&attempts);
	published_hours_release(&hours);
}

static void what_was_left_out_of_an_hour_is_told(void **state)
{
	struct settled *t = *state;
	const struct copied_days none = {0};
	const struct total_sources from = {.rolled = &none};
	struct question q = question_of(BOTS_INCLUDE);
	struct lists lists = no_days;
	struct buf sql = {0};

	insert_all(t);
	t->settings.values_max = 1;
	settle_all(t);
	q.group_by[q.group_by_count++] = dimension_find("link");
	total_sql_clicks(&sql, &q, &one, &from);
	assert_string_equal(ask_sorted(t, &q, &sql, &lists),
			    "group\t0\t1\t\t9\t9\t4\t0\t\\N\t\\N\n"
			    "group\t0\t2\t\t3\t3\t0\t0\t\\N\t\\N\n"
			    "left_out\t0\t\t\t11\t10\t1\t2\t\\N\t\\N\n"
			    "total\t0\t\t\t23\t22\t5\t2\t12\t7\n");
	lists.start = FROM + HOUR;
	total_sql_links(&sql, &q, &from);
	assert_string_equal(ask_sorted(t, &q, &sql, &lists),
			    "1\t0\t9\t9\t4\t0\n2\t1\t3\t3\t0\t0\n");
	total_sql_links_left_out(&sql, &q, &from);
	assert_string_equal(ask_sorted(t, &q, &sql, &lists), "11\n");
}

static void links_are_parted_at_the_start_of_now(void **state)
{
	struct settled *t = *state;
	const struct copied_days none = {0};
	const struct total_sources from = {.rolled = &none};
	struct question q = question_of(BOTS_INCLUDE);
	struct lists lists = no_days;
	struct buf sql = {0};

	insert_all(t);
	settle_all(t);
	lists.start = FROM + HOUR;
	total_sql_links(&sql, &q, &from);
	assert_string_equal(ask_sorted(t, &q, &sql, &lists),
			    "1\t0\t9\t9\t4\t0\n1\t1\t1\t1\t1\t0\n"
			    "2\t0\t9\t9\t0\t2\n2\t1\t3\t3\t0\t0\n");
}

/* --- rolled days ------------------------------------------------------------
 */

static void totals_have_rolled_days_and_hours(void **state)
{
	struct settled *t = *state;
	const struct total_sources from = {.rolled = &copied};
	struct question q = three_days(BOTS_ONLY);
	struct buckets buckets = {
		(int64_t[]){START, START + DAY, START + 2 * DAY}, 3};
	char days[32], expected[300];
	struct lists lists = copied_lists(days);
	struct buf sql = {0};

	insert_all(t);
	settle_all(t);
	settled_publish_hour(t, START + DAY + 23 * HOUR, 5, 999);
	settled_publish_hour(t, START + 3 * DAY - HOUR, 5, 6);
	settled_publish_hour(t, START + 3 * DAY, 5, 999);
	settled_publish_hour(t, START - HOUR, 5, 999);
	clickhouse_server_do(
		&t->server,
		"INSERT INTO stats_spans (dimension, span, span_start, "
		"attempt, events, clicks, bots, prefetches) VALUES "
		"('total', 86400, %" PRId64 ", 7, 40, 21, 15, 4), "
		"('total', 86400, %" PRId64 ", 8, 999, 9, 9, 9), "
		"('total', 3600, %" PRId64 ", 7, 41, 22, 16, 5), "
		"('total', 86400, %" PRId64 ", 7, 999, 9, 9, 9), "
		"('link', 86400, %" PRId64 ", 7, 999, 9, 9, 9)",
		START + DAY, START + DAY, START + 2 * DAY - HOUR, START,
		START + DAY);
	total_sql_clicks(&sql, &q, &buckets, &from);
	snprintf(expected, sizeof(expected),
		 "bucket\t%" PRId64 "\t\t\t323\t322\t5\t2\t5\t2\n"
		 "bucket\t%" PRId64 "\t\t\t40\t21\t15\t4\t0\t0\n"
		 "bucket\t%" PRId64 "\t\t\t6\t0\t0\t0\t0\t0\n"
		 "total\t0\t\t\t369\t343\t20\t6\t5\t2\n",
		 START, START + DAY, START + 2 * DAY);
	assert_string_equal(ask_sorted(t, &q, &sql, &lists), expected);
	/* The total by hours equals the total by days. */
	buckets.starts[2] += HOUR;
	total_sql_clicks(&sql, &q, &buckets, &from);
	snprintf(expected, sizeof(expected),
		 "bucket\t%" PRId64 "\t\t\t323\t322\t5\t2\t5\t2\n"
		 "bucket\t%" PRId64 "\t\t\t41\t22\t16\t5\t0\t0\n"
		 "bucket\t%" PRId64 "\t\t\t6\t0\t0\t0\t0\t0\n"
		 "total\t0\t\t\t369\t343\t20\t6\t5\t2\n",
		 START, START + DAY, START + 2 * DAY + HOUR);
	assert_string_equal(ask_sorted(t, &q, &sql, &lists), expected);
	/* Buckets within hours are counted by slots; the total stays the same.
	 */
	buckets.starts[2] += 900;
	total_sql_clicks(&sql, &q, &buckets, &from);
	snprintf(expected, sizeof(expected),
		 "bucket\t%" PRId64 "\t\t\t323\t322\t5\t2\t5\t2\n"
		 "bucket\t%" PRId64 "\t\t\t999\t0\t0\t0\t0\t0\n"
		 "bucket\t%" PRId64 "\t\t\t6\t0\t0\t0\t0\t0\n"
		 "total\t0\t\t\t369\t343\t20\t6\t5\t2\n",
		 START, START + DAY, START + 2 * DAY + HOUR + 900);
	assert_string_equal(ask_sorted(t, &q, &sql, &lists), expected);
}

/* --- values of days ---------------------------------------------------------
 */

/* The region of the middle day is copied; the rows of two other attempts, days
 * and dimensions are not read. */
static void insert_regions(struct settled *t)
{
	insert_three_days(t);
	copy_bobs(t, "region", "'BY'");
	clickhouse_server_do(
		&t->server,
		"INSERT INTO day_values (dimension, day, attempt, value, rest, "
		"events, clicks, bots, prefetches) VALUES "
		"('region', '2026-10-25', 7, 'BY', false, 30, 20, 5, 3), "
		"('region', '2026-10-25', 7, '', true, 10, 8, 2, 1), "
		"('region', '2026-10-25', 8, 'BY', false, 999, 9, 9, 9), "
		"('region', '2026-10-26', 7, 'BY', false, 999, 9, 9, 9), "
		"('region', '2026-10-24', 7, 'BY', false, 999, 9, 9, 9), "
		"('continent', '2026-10-25', 7, 'BY', false, 999, 9, 9, 9)");
	settled_publish_hour(t, START + DAY + 23 * HOUR, 5, 50);
	settled_publish_hour(t, START + HOUR, 5, 999);
}

#define GROUPS                                                                 \
	"group\t0\t\t\t335\t334\t17\t2\t\\N\t\\N\n"                            \
	"group\t0\tBY\t\t41\t31\t9\t3\t\\N\t\\N\n"                             \
	"left_out\t0\t\t\t10\t8\t2\t1\t\\N\t\\N\n"

static void values_are_those_of_copied_days_and_rows(void **state)
{
	struct settled *t = *state;
	const struct copied_days none = {0};
	const struct total_sources from = {.rolled = &none, .valued = &copied};
	struct question q = three_days(BOTS_ONLY);
	struct buckets buckets = {(int64_t[]){START}, 1};
	char days[32];
	struct lists lists = copied_lists(days);
	struct buf sql = {0};

	insert_regions(t);
	q.group_by[q.group_by_count++] = dimension_find("region");
	total_sql_clicks(&sql, &q, &buckets, &from);
	/* The total of the copied day equals the total of its hours. */
	assert_string_equal(ask_sorted(t, &q, &sql, &lists),
			    GROUPS "total\t0\t\t\t396\t345\t21\t2\t5\t3\n");
}

static void
the_total_beside_values_is_that_of_rolled_days_and_rows(void **state)
{
	struct settled *t = *state;
	const struct total_sources from = {.rolled = &copied,
					   .valued = &copied};
	struct question q = three_days(BOTS_ONLY);
	struct buckets buckets = {(int64_t[]){START}, 1};
	char days[32];
	struct lists lists = copied_lists(days);
	struct buf sql = {0};

	insert_regions(t);
	clickhouse_server_do(
		&t->server,
		"INSERT INTO stats_spans (dimension, span, span_start, "
		"attempt, events, clicks, bots, prefetches) VALUES "
		"('total', 86400, %" PRId64 ", 7, 40, 21, 15, 4)",
		START + DAY);
	q.group_by[q.group_by_count++] = dimension_find("region");
	total_sql_clicks(&sql, &q, &buckets, &from);
	assert_string_equal(ask_sorted(t, &q, &sql, &lists),
			    GROUPS "total\t0\t\t\t386\t366\t36\t6\t5\t3\n");
}

static void what_was_sent_twice_has_its_value_once(void **state)
{
	struct settled *t = *state;
	const struct copied_days none = {0};
	const struct total_sources from = {.rolled = &none, .valued = &copied};
	struct question q = three_days(BOTS_ONLY);
	struct buckets buckets = {(int64_t[]){START}, 1};
	char days[32];
	struct lists lists = copied_lists(days);
	struct buf sql = {0};

	insert_regions(t);
	clickhouse_server_do(
		&t->server,
		"INSERT INTO clicks SELECT * REPLACE (offset + 5000 AS offset, "
		"true AS maybe_sent, append_time + 1 AS append_time) "
		"FROM (SELECT * FROM clicks WHERE offset IN (100, 105, 120))");
	q.group_by[q.group_by_count++] = dimension_find("region");
	q.marked = true;
	total_sql_clicks(&sql, &q, &buckets, &from);
	assert_string_equal(ask_sorted(t, &q, &sql, &lists),
			    GROUPS "total\t0\t\t\t396\t345\t21\t2\t5\t3\n");
}

/* No day is copied: the total beside the values has the visitors from rows. */
static void the_total_of_rows_has_their_visitors(void **state)
{
	struct settled *t = *state;
	const struct copied_days none = {0};
	const struct total_sources from = {.rolled = &none, .valued = &none};
	const struct clicks_scope scope = {0};

	insert_all(t);
	for (int bots = 0; bots < 2; bots++) {
		struct question q = question_of((enum bots_mode)bots);
		struct buf sql = {0};
		const char *answer;
		char *rows;

		clicks_sql_rows(&sql, &q, &two_hours, &scope, true);
		rows = strdup(ask_sorted(t, &q, &sql, &no_days));
		assert_non_null(rows);
		q.group_by[q.group_by_count++] = dimension_find("region");
		total_sql_clicks(&sql, &q, &two_hours, &from);
		answer = ask_sorted(t, &q, &sql, &no_days);
		assert_non_null(strstr(answer, "group\t0\t\t\t23\t22\t5\t2\t"));
		assert_non_null(strstr(rows, "total"));
		assert_non_null(strstr(answer, strstr(rows, "total")));
		free(rows);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SETTLED_TEST(hours_are_counted_as_rows_are),
		SETTLED_TEST(
			an_hour_that_is_published_again_has_its_new_counts),
		SETTLED_TEST(countries_that_have_most_have_their_visitors),
		SETTLED_TEST(where_nothing_was_published_there_are_no_hours),
		SETTLED_TEST(parts_of_hours_are_counted_by_slots),
		SETTLED_TEST(hours_that_are_listed_are_counted_alike),
		SETTLED_TEST(what_was_left_out_of_an_hour_is_told),
		SETTLED_TEST(links_are_parted_at_the_start_of_now),
		SETTLED_TEST(totals_have_rolled_days_and_hours),
		SETTLED_TEST(values_are_those_of_copied_days_and_rows),
		SETTLED_TEST(
			the_total_beside_values_is_that_of_rolled_days_and_rows),
		SETTLED_TEST(what_was_sent_twice_has_its_value_once),
		SETTLED_TEST(the_total_of_rows_has_their_visitors),
	};

	return cmocka_run_group_tests(tests, settled_open, settled_close);
}
