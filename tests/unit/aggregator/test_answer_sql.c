#include "tests/unit/aggregator/settled.h"

#include "aggregator/api/clicks_sql.h"
#include "aggregator/api/owner_sql.h"
#include "aggregator/api/published_hours.h"
#include "aggregator/api/total_sql.h"
#include "aggregator/settle/hours.h"
#include "aggregator/settle/owner_days.h"

/* Two hours are asked about; one before and one behind have clicks, too. */
#define FROM (START + HOUR)
#define TO   (START + 3 * HOUR)

static const struct clicks all[] = {
	{FROM * CLOCK_SECOND - 1, 100, 1, "redirected", "human", 90, 80},
	{FROM * CLOCK_SECOND, 5, 1, "redirected", "human", 3, 2},
	{FROM * CLOCK_SECOND + 1, 4, 1, "redirected", "bot", 4, 1},
	{FROM * CLOCK_SECOND + 2, 2, 2, "redirected", "prefetch", 1, 1},
	{FROM * CLOCK_SECOND + 3, 1, 0, "not_found", "human", 1, 1},
	{(FROM + HOUR) * CLOCK_SECOND - 1, 7, 2, "redirected", "human", 7, 5},
	{(FROM + HOUR) * CLOCK_SECOND, 1, 1, "redirected", "bot", 1, 1},
	{TO * CLOCK_SECOND - 1, 3, 2, "redirected", "human", 3, 3},
	{TO * CLOCK_SECOND, 200, 1, "redirected", "human", 70, 60},
};

/* Two of them are bob's, the others are ann's. */
static bool is_bobs(size_t i)
{
	return i == 2 || i == 5;
}

/* --- what is asked ----------------------------------------------------------
 */

/* Arrays of days, hours and their attempts; other parameters are fixed. */
struct lists {
	const char *days, *attempts, *hours, *hour_attempts, *value_attempts;
	const char *owners;
	uint64_t attempt; /* 0: all */
	size_t limit;
	int64_t start;
};

/* Asks, and orders what is answered. */
static const char *ask_sorted(struct settled *t, const struct question *q,
			      struct buf *sql, const struct lists *lists)
{
	static char text[8192];
	char from[24], to[24], attempt[24], limit[24], start[24];
	const struct clickhouse_param params[] = {
		{"param_from", from},
		{"param_to", to},
		{"param_link_id", "1"},
		{"param_attempt", attempt},
		{"param_limit", limit},
		{"param_start", start},
		{"param_days", lists->days},
		{"param_attempts", lists->attempts},
		{"param_value_days", lists->days},
		{"param_value_attempts", lists->value_attempts
						 ? lists->value_attempts
						 : lists->attempts},
		{"param_hours", lists->hours ? lists->hours : "[]"},
		{"param_hour_attempts",
		 lists->hour_attempts ? lists->hour_attempts : "[]"},
		{"param_bound_owners", lists->owners ? lists->owners : "ann"},
		{NULL, NULL}};
	struct buf ordered = {0}, out = {0};
	struct error err = {0};
	char *end;

	snprintf(from, sizeof(from), "%" PRId64, q->from);
	snprintf(to, sizeof(to), "%" PRId64, q->to);
	snprintf(attempt, sizeof(attempt), "%" PRIu64,
		 lists->attempt ? lists->attempt : UINT64_MAX);
	snprintf(limit, sizeof(limit), "%zu", lists->limit ? lists->limit : 9);
	snprintf(start, sizeof(start), "%" PRId64, lists->start);
	end = strstr(buf_cstr(sql), " FORMAT TabSeparated");
	if (end)
		*end = '\0';
	buf_printf(&ordered,
		   "SELECT * FROM (%s) ORDER BY ALL FORMAT TabSeparated",
		   sql->data);
	if (clickhouse_query(t->s.ch, buf_cstr(&ordered), params, &out, &err) <
	    0)
		fail_msg("%s: %s", ordered.data, err.text);
	snprintf(text, sizeof(text), "%.*s", (int)out.len,
		 out.data ? out.data : "");
	buf_free(&ordered);
	buf_free(&out);
	buf_free(sql);
	return text;
}

static struct buckets two_hours = {(int64_t[]){FROM, FROM + HOUR}, 2};
static struct buckets one = {(int64_t[]){FROM}, 1};

static struct question question_of(enum bots_mode bots)
{
	return (struct question){.from = FROM, .to = TO, .bots = bots};
}

static const struct lists no_days = {.days = "[]", .attempts = "[]"};

static void insert_all(struct settled *t)
{
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		t->owner = is_bobs(i) ? "bob" : "ann";
		settled_insert(t, all[i]);
	}
}

/* --- rows -------------------------------------------------------------------
 */

static void
rows_are_counted_from_the_first_moment_to_before_the_last(void **state)
{
	struct settled *t = *state;
	static const char *const uniques[] = {
		[BOTS_EXCLUDE] = "7\t5",
		[BOTS_INCLUDE] = "12\t7",
		[BOTS_ONLY] = "5\t2",
	};
	const struct clicks_scope scope = {0};

	insert_all(t);
	for (int exact = 0; exact < 2; exact++) {
		for (int bots = 0; bots < 3; bots++) {
			struct question q = question_of((enum bots_mode)bots);
			struct buf sql = {0};
			char expected[80];

			clicks_sql_rows(&sql, &q, &one, &scope, exact);
			snprintf(expected, sizeof(expected),
				 "total\t0\t\t\t23\t22\t5\t2\t%s\n",
				 uniques[bots]);
			assert_string_equal(ask_sorted(t, &q, &sql, &no_days),
					    expected);
		}
	}
}

static void each_bucket_has_its_rows(void **state)
{
	struct settled *t = *state;
	struct question q = question_of(BOTS_EXCLUDE);
	const struct clicks_scope scope = {0};
	struct buf sql = {0};
	char expected[200];

	insert_all(t);
	clicks_sql_rows(&sql, &q, &two_hours, &scope, true);
	snprintf(expected, sizeof(expected),
		 "bucket\t%" PRId64 "\t\t\t19\t18\t4\t2\t7\t5\n"
		 "bucket\t%" PRId64 "\t\t\t4\t4\t1\t0\t3\t3\n"
		 "total\t0\t\t\t23\t22\t5\t2\t7\t5\n",
		 FROM, FROM + HOUR);
	assert_string_equal(ask_sorted(t, &q, &sql, &no_days), expected);
}

static void a_scope_has_its_link_or_its_owners(void **state)
{
	struct settled *t = *state;
	struct question q = question_of(BOTS_EXCLUDE);
	const struct clicks_scope link = {.link = true};
	const struct clicks_scope owners = {.owners = true};
	struct buf sql = {0};
	struct lists bob = no_days;

	insert_all(t);
	clicks_sql_rows(&sql, &q, &one, &link, true);
	assert_string_equal(ask_sorted(t, &q, &sql, &no_days),
			    "total\t0\t\t\t10\t10\t5\t0\t3\t2\n");
	/* Clicks without a link are not ann's. */
	clicks_sql_rows(&sql, &q, &one, &owners, true);
	assert_string_equal(ask_sorted(t, &q, &sql, &no_days),
			    "total\t0\t\t\t11\t11\t1\t2\t3\t3\n");
	bob.owners = "bob";
	clicks_sql_rows(&sql, &q, &one, &owners, true);
	assert_string_equal(ask_sorted(t, &q, &sql, &bob),
			    "total\t0\t\t\t11\t11\t4\t0\t7\t5\n");
	bob.owners = "ann\\nbob";
	clicks_sql_rows(&sql, &q, &one, &owners, true);
	assert_string_equal(ask_sorted(t, &q, &sql, &bob),
			    "total\t0\t\t\t22\t22\t5\t2\t7\t5\n");
}

static void groups_are_those_that_have_most(void **state)
{
	struct settled *t = *state;
	const struct clicks_scope scope = {0};
	struct lists two = no_days;

	insert_all(t);
	two.limit = 2;
	for (int bots = 0; bots < 3; bots++) {
		static const char *const expected[] = {
			[BOTS_EXCLUDE] = "group\t0\tann\t\t12\t11\t1\t2\t3\t3\n"
					 "group\t0\tbob\t\t11\t11\t4\t0\t7\t5\n"
					 "total\t0\t\t\t23\t22\t5\t2\t7\t5\n",
			[BOTS_INCLUDE] =
				"group\t0\tann\t\t12\t11\t1\t2\t5\t5\n"
				"group\t0\tbob\t\t11\t11\t4\t0\t11\t6\n"
				"total\t0\t\t\t23\t22\t5\t2\t12\t7\n",
			[BOTS_ONLY] = "group\t0\tann\t\t12\t11\t1\t2\t2\t2\n"
				      "group\t0\tbob\t\t11\t11\t4\t0\t4\t1\n"
				      "total\t0\t\t\t23\t22\t5\t2\t5\t2\n",
		};
		struct question q = question_of((enum bots_mode)bots);
		struct buf sql = {0};

		q.group_by[q.group_by_count++] = dimension_find("owner");
		clicks_sql_rows(&sql, &q, &one, &scope, true);
		assert_string_equal(ask_sorted(t, &q, &sql, &two),
				    expected[bots]);
	}
	/* One is left: by people link 2 has the most, by robots link 1. */
	two.limit = 1;
	for (int bots = 0; bots < 3; bots += 2) {
		struct question q = question_of((enum bots_mode)bots);
		struct buf sql = {0};

		q.group_by[q.group_by_count++] = dimension_find("link");
		clicks_sql_rows(&sql, &q, &two_hours, &scope, true);
		assert_non_null(strstr(ask_sorted(t, &q, &sql, &two),
				       bots == BOTS_ONLY ? "group\t0\t1\t"
							 : "group\t0\t2\t"));
	}
}

static void an_event_that_was_sent_twice_is_counted_once(void **state)
{
	struct settled *t = *state;
	struct question q = question_of(BOTS_EXCLUDE);
	const struct clicks_scope link = {.link = true};
	struct buf sql = {0};

	insert_all(t);
	clickhouse_server_do(
		&t->server,
		"INSERT INTO clicks SELECT * REPLACE (offset + 1000 AS offset, "
		"true AS maybe_sent, append_time + 1 AS append_time) "
		"FROM (SELECT * FROM clicks WHERE offset IN (100, 105, 120))");
	q.marked = true;
	for (int i = 0; i < 2; i++) {
		clicks_sql_rows(&sql, &q, &one, &link, true);
		assert_string_equal(ask_sorted(t, &q, &sql, &no_days),
				    "total\t0\t\t\t10\t10\t5\t0\t3\t2\n");
	}
	/* The statement fails where it meets a repeat that is not marked. */
	q.marked = false;
	clicks_sql_rows(&sql, &q, &one, &link, true);
	{
		const struct clickhouse_param params[] = {
			{"param_from", "0"},
			{"param_to", "4000000000"},
			{"param_link_id", "1"},
			{NULL, NULL}};
		struct error err = {0};
		struct buf out = {0};

		assert_int_equal(clickhouse_query(t->s.ch, buf_cstr(&sql),
						  params, &out, &err),
				 -1);
		assert_true(clicks_sql_met_marked(t->s.ch));
		buf_free(&out);
	}
	buf_free(&sql);
}

/* --- settled hours ----------------------------------------------------------
 */

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

/* Rows of that attempt count ten times as much. */
static void publish_again(struct settled *t, const char *kind)
{
	clickhouse_server_do(
		&t->server,
		"INSERT INTO stats_hourly SELECT * REPLACE (attempt + 1 AS "
		"attempt, events * 10 AS events) FROM (SELECT * FROM "
		"stats_hourly WHERE dimension = 'total')");
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
		/* One that is not published is not read; ... */
		publish_again(t, "held_hour");
	}
	/* ... nor one that was published later than is asked for. */
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
	lists.hours = starts.data;
	lists.hour_attempts = attempts.data;
	total_sql_clicks(&sql, &q, &one, &from);
	/* Visitors of robots alone are not kept. */
	assert_string_equal(ask_sorted(t, &q, &sql, &lists),
			    "total\t0\t\t\t23\t22\t5\t2\t\\N\t\\N\n");
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

/* --- copied days ------------------------------------------------------------
 */

/* The day in the middle of three is copied under attempt 7; its rows are not
 * read. */
static struct copied_day middle[] = {
	{.start = START + DAY, .attempt = 7, .events = 40}};
static const struct copied_days copied = {.items = middle, .count = 1};

static struct lists copied_lists(char days[32])
{
	snprintf(days, 32, "[%" PRId64 "]", START + DAY);
	return (struct lists){.days = days, .attempts = "[7]"};
}

static void insert_three_days(struct settled *t)
{
	insert_all(t);
	for (int i = -1; i <= 2; i++)
		settled_insert(
			t, (struct clicks){
				   (START + i * DAY + DAY) * CLOCK_SECOND - 1,
				   i == 1 ? 500 : 6, 1, "redirected", "bot", 2,
				   2});
}

static struct question three_days(enum bots_mode bots)
{
	return (struct question){
		.from = START, .to = START + 3 * DAY, .bots = bots};
}

static void a_link_has_sealed_days_and_rows(void **state)
{
	struct settled *t = *state;
	static const char *const expected[] = {
		[BOTS_EXCLUDE] = "total\t0\t\t\t362\t343\t32\t4\t93\t83\n",
		[BOTS_INCLUDE] = "total\t0\t\t\t362\t343\t32\t4\t99\t87\n",
		[BOTS_ONLY] = "total\t0\t\t\t362\t343\t32\t4\t6\t4\n",
	};
	char days[32];
	struct lists lists = copied_lists(days);
	struct buckets buckets = {(int64_t[]){START}, 1};

	insert_three_days(t);
	clickhouse_server_do(
		&t->server,
		"INSERT INTO sealed_slots (link_id, slot, attempt, events, "
		"clicks, bots, prefetches, people, others, people_ips, "
		"others_ips) VALUES "
		"(1, %" PRId64
		", 7, 40, 21, 15, 4, [1, 2, 3], [4, 5], [1, 2, 3], [6, 7]), "
		"(1, %" PRId64 ", 8, 999, 999, 999, 999, [9], [9], [9], [9]), "
		"(2, %" PRId64 ", 7, 999, 999, 999, 999, [9], [9], [9], [9]), "
		"(1, %" PRId64 ", 7, 999, 999, 999, 999, [9], [9], [9], [9])",
		START + 2 * DAY - 900, START + DAY, START + DAY, START);
	for (int bots = 0; bots < 3; bots++) {
		struct question q = three_days((enum bots_mode)bots);
		struct buf sql = {0};

		clicks_sql_sealed(&sql, &q, &buckets, &copied, true);
		assert_string_equal(ask_sorted(t, &q, &sql, &lists),
				    expected[bots]);
		clicks_sql_sealed_size(&sql, &q, &copied);
		assert_string_equal(ask_sorted(t, &q, &sql, &lists), "362\n");
	}
}

static void owners_have_copied_days_and_rows(void **state)
{
	struct settled *t = *state;
	struct question q = three_days(BOTS_EXCLUDE);
	struct buckets buckets = {(int64_t[]){START}, 1};
	char days[32];
	struct lists lists = copied_lists(days);
	struct buf sql = {0};

	insert_three_days(t);
	clickhouse_server_do(
		&t->server,
		"INSERT INTO owner_slots (owner, slot, attempt, events, "
		"clicks, bots, prefetches, people, others, people_ips, "
		"others_ips) VALUES "
		"('ann', %" PRId64
		", 7, 40, 21, 15, 4, [1, 2, 3], [4, 5], [1, 2, 3], [6, 7]), "
		"('ann', %" PRId64 ", 8, 999, 9, 9, 9, [9], [9], [9], [9]), "
		"('bob', %" PRId64 ", 7, 999, 9, 9, 9, [9], [9], [9], [9]), "
		"('ann', %" PRId64 ", 7, 999, 9, 9, 9, [9], [9], [9], [9])",
		START + 2 * DAY - 900, START + DAY, START + DAY, START);
	owner_sql_clicks(&sql, &q, &buckets, &copied);
	assert_string_equal(ask_sorted(t, &q, &sql, &lists),
			    "total\t0\t\t\t363\t344\t28\t6\t93\t83\n");
	clickhouse_server_do(
		&t->server,
		"INSERT INTO owner_values (owner, dimension, day, attempt, "
		"value, rest, events, clicks, bots, prefetches) VALUES "
		"('ann', 'link', '2026-10-25', 7, '1', false, 30, 20, 5, 3), "
		"('ann', 'link', '2026-10-25', 7, '', true, 10, 8, 2, 1), "
		"('ann', 'owner', '2026-10-25', 7, '', true, 99, 9, 9, 9), "
		"('ann', 'link', '2026-10-25', 8, '1', false, 99, 9, 9, 9), "
		"('bob', 'link', '2026-10-25', 7, '1', false, 99, 9, 9, 9), "
		"('ann', 'link', '2026-10-26', 7, '1', false, 99, 9, 9, 9)");
	q.group_by[q.group_by_count++] = dimension_find("link");
	owner_sql_clicks(&sql, &q, &buckets, &copied);
	assert_string_equal(ask_sorted(t, &q, &sql, &lists),
			    "group\t0\t1\t\t348\t338\t18\t3\t\\N\t\\N\n"
			    "group\t0\t2\t\t5\t5\t0\t2\t\\N\t\\N\n"
			    "left_out\t0\t\t\t10\t8\t2\t1\t\\N\t\\N\n"
			    "total\t0\t\t\t363\t344\t28\t6\t93\t83\n");
	lists.start = START + DAY;
	owner_sql_links(&sql, &q, &copied);
	assert_string_equal(ask_sorted(t, &q, &sql, &lists),
			    "1\t0\t312\t312\t7\t0\n1\t1\t36\t26\t11\t3\n"
			    "2\t0\t5\t5\t0\t2\n");
	/* Clicks of the first moment of now are of now. */
	lists.start = FROM;
	owner_sql_links(&sql, &q, &copied);
	assert_string_equal(ask_sorted(t, &q, &sql, &lists),
			    "1\t0\t100\t100\t0\t0\n"
			    "1\t1\t248\t238\t18\t3\n2\t1\t5\t5\t0\t2\n");
	owner_sql_links_left_out(&sql);
	assert_string_equal(ask_sorted(t, &q, &sql, &lists), "10\n");
}

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
		 "bucket\t%" PRId64 "\t\t\t323\t322\t5\t2\t\\N\t\\N\n"
		 "bucket\t%" PRId64 "\t\t\t40\t21\t15\t4\t\\N\t\\N\n"
		 "bucket\t%" PRId64 "\t\t\t6\t0\t0\t0\t\\N\t\\N\n"
		 "total\t0\t\t\t369\t343\t20\t6\t\\N\t\\N\n",
		 START, START + DAY, START + 2 * DAY);
	assert_string_equal(ask_sorted(t, &q, &sql, &lists), expected);
	/* The total by hours is that by days. */
	buckets.starts[2] += HOUR;
	total_sql_clicks(&sql, &q, &buckets, &from);
	snprintf(expected, sizeof(expected),
		 "bucket\t%" PRId64 "\t\t\t323\t322\t5\t2\t\\N\t\\N\n"
		 "bucket\t%" PRId64 "\t\t\t41\t22\t16\t5\t\\N\t\\N\n"
		 "bucket\t%" PRId64 "\t\t\t6\t0\t0\t0\t\\N\t\\N\n"
		 "total\t0\t\t\t369\t343\t20\t6\t\\N\t\\N\n",
		 START, START + DAY, START + 2 * DAY + HOUR);
	assert_string_equal(ask_sorted(t, &q, &sql, &lists), expected);
}

#define SETTLED_TEST(f)                                                        \
	cmocka_unit_test_setup_teardown(f, settled_begin, settled_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SETTLED_TEST(
			rows_are_counted_from_the_first_moment_to_before_the_last),
		SETTLED_TEST(each_bucket_has_its_rows),
		SETTLED_TEST(a_scope_has_its_link_or_its_owners),
		SETTLED_TEST(groups_are_those_that_have_most),
		SETTLED_TEST(an_event_that_was_sent_twice_is_counted_once),
		SETTLED_TEST(hours_are_counted_as_rows_are),
		SETTLED_TEST(parts_of_hours_are_counted_by_slots),
		SETTLED_TEST(hours_that_are_listed_are_counted_alike),
		SETTLED_TEST(what_was_left_out_of_an_hour_is_told),
		SETTLED_TEST(a_link_has_sealed_days_and_rows),
		SETTLED_TEST(owners_have_copied_days_and_rows),
		SETTLED_TEST(totals_have_rolled_days_and_hours),
	};

	return cmocka_run_group_tests(tests, settled_open, settled_close);
}
