#include "tests/unit/aggregator/settled.h"

#include "aggregator/settle/day_settlement.h"

static struct settle_count settle_day(struct settled *t, struct stale day,
				      int status, struct error *err)
{
	struct settle_count n;

	*err = (struct error){0};
	assert_int_equal(days_settle(&t->s, &day, &t->last, &n, err), status);
	return n;
}

static const struct stale the_day = {.start = START, .blocks = 3, .rows = 9};

static struct settle_count settle_usual_day(struct settled *t, int status,
					    struct error *err)
{
	return settle_day(t, the_day, status, err);
}

/* Checks how often the day was published, and held back. */
static void assert_settled(struct settled *t, const char *expected)
{
	assert_string_equal(
		clickhouse_server_ask(&t->server,
				      "SELECT countIf(kind = 'link_day'), "
				      "countIf(kind = 'held_day') FROM settled "
				      "WHERE toUInt32(unit) = %" PRId64,
				      START),
		expected);
}

/* --- publication ------------------------------------------------------------
 */

static void a_day_has_each_figure_of_its_rows(void **state)
{
	struct settled *t = *state;
	const int64_t first = START * CLOCK_SECOND;
	const struct clicks all[] = {
		{first - 1, 90, 1, "redirected", "human", 9, 9},
		{first, 5, 1, "redirected", "human", 3, 2},
		{first + 1, 4, 1, "redirected", "bot", 4, 1},
		{first + 2, 2, 1, "redirected", "prefetch", 1, 1},
		{first + 3, 6, 0, "not_found", "human", 6, 6},
		{first + 899999, 1, 1, "expired", "human", 1, 1},
		{first + 900000, 7, 1, "redirected", "human", 1, 1},
		{first + 86399999, 3, 2, "redirected", "preview", 2, 3},
		{first + 86400000, 80, 1, "redirected", "human", 8, 8},
	};
	struct settle_count n;
	struct error err;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		settled_insert(t, all[i]);
	settled_publish_hour(t, START, 5, 28);
	/* Hours of other days and former attempts do not count. */
	settled_publish_hour(t, START, 4, 1000);
	settled_publish_hour(t, START - HOUR, 5, 1000);
	settled_publish_hour(t, START + DAY, 5, 1000);
	n = settle_usual_day(t, 0, &err);
	assert_int_equal(n.done, 1);
	assert_int_equal(n.published, 1);
	assert_int_equal(t->shortages, 0);
	assert_string_equal(
		clickhouse_server_ask(
			&t->server,
			"SELECT link_id, toUInt32(slot) - %" PRId64
			" AS s, clicks, bots, prefetches, effective, "
			"ineffective FROM link_slots ORDER BY link_id, s",
			START),
		"1\t0\t11\t4\t2\t5\t7\n1\t900\t7\t0\t0\t7\t0\n"
		"2\t85500\t3\t3\t0\t0\t3");
	assert_string_equal(
		clickhouse_server_ask(
			&t->server,
			"SELECT link_id, toString(day), pv, uv, ip, human_uv, "
			"human_ip, effective, ineffective FROM link_days "
			"ORDER BY link_id"),
		"1\t2026-10-24\t19\t8\t4\t3\t2\t12\t7\n"
		"2\t2026-10-24\t3\t2\t3\t0\t0\t0\t3");
	assert_string_equal(
		clickhouse_server_ask(
			&t->server,
			"SELECT toUInt32(unit) - %" PRId64
			", blocks, rows, toUnixTimestamp64Milli(read_until), "
			"toUnixTimestamp64Milli(complete_until), settler, "
			"attempt = (SELECT max(attempt) FROM link_slots), "
			"attempt = (SELECT max(attempt) FROM link_days), "
			"abs(dateDiff('second', settled_at, now())) < 60 "
			"FROM settled WHERE kind = 'link_day'",
			START),
		"0\t3\t9\t1792900000123\t1792890000456\ta tester\t1\t1\t1");
}

/* Visitors of a link that changed hands cannot be added up: one came under each
 * holder. */
static void a_day_on_which_a_link_changed_hands_has_each_part(void **state)
{
	static const struct {
		const char *account, *owner;
		struct clicks clicks;
	} held[] = {
		{"acme", "ann", {0, 5, 1, "redirected", "human", 3, 1}},
		{"acme", "bob", {0, 4, 1, "redirected", "human", 2, 1}},
		{"shop", "ann", {0, 3, 1, "redirected", "human", 1, 1}},
		{"\x01unknown",
		 "\x01unknown",
		 {0, 2, 1, "expired", "human", 1, 1}},
		{"shop", "ann", {0, 7, 2, "redirected", "human", 7, 1}},
	};
	struct settled *t = *state;
	struct error err;

	for (size_t i = 0; i < sizeof(held) / sizeof(held[0]); i++) {
		struct clicks c = held[i].clicks;

		c.at_ms = START * CLOCK_SECOND;
		t->account = held[i].account;
		t->owner = held[i].owner;
		settled_insert(t, c);
	}
	settled_publish_hour(t, START, 5, 21);
	assert_int_equal(settle_usual_day(t, 0, &err).published, 1);
	assert_string_equal(
		clickhouse_server_ask(
			&t->server,
			"SELECT link_id, part, replace(account, '\\x01', '?') "
			"AS a, replace(owner, '\\x01', '?') AS o, pv, uv, "
			"human_uv, effective, ineffective FROM link_days "
			"ORDER BY link_id, part, a, o"),
		"1\tholder\t?unknown\t?unknown\t2\t0\t0\t0\t2\n"
		"1\tholder\tacme\tann\t5\t3\t3\t5\t0\n"
		"1\tholder\tacme\tbob\t4\t2\t2\t4\t0\n"
		"1\tholder\tshop\tann\t3\t1\t1\t3\t0\n"
		"1\taccount\t?unknown\t\t2\t0\t0\t0\t2\n"
		"1\taccount\tacme\t\t9\t3\t3\t9\t0\n"
		"1\taccount\tshop\t\t3\t1\t1\t3\t0\n"
		"1\twhole\t\t\t14\t3\t3\t12\t2\n"
		"2\tsole\tshop\tann\t7\t7\t7\t7\t0");
}

/* --- changes between statements ---------------------------------------------
 */

static void lose_slots(struct settled *t)
{
	clickhouse_server_do(&t->server,
			     "ALTER TABLE link_slots UPDATE ineffective = "
			     "ineffective - 1 WHERE link_id = 1 "
			     "SETTINGS mutations_sync = 1");
}

static void lose_visits(struct settled *t)
{
	clickhouse_server_do(&t->server,
			     "ALTER TABLE link_days UPDATE pv = pv - 1 "
			     "WHERE 1 SETTINGS mutations_sync = 1");
}

static void double_slots(struct settled *t)
{
	clickhouse_server_do(&t->server,
			     "INSERT INTO link_slots SELECT * FROM link_slots");
}

static void double_visits(struct settled *t)
{
	clickhouse_server_do(&t->server,
			     "INSERT INTO link_days SELECT * FROM link_days");
}

static void lose_both(struct settled *t)
{
	lose_slots(t);
	lose_visits(t);
}

static void more_visits(struct settled *t)
{
	clickhouse_server_do(
		&t->server,
		"INSERT INTO link_days (link_id, day, attempt, pv) SELECT 9, "
		"toDate(slot), attempt, 1 FROM link_slots "
		"ORDER BY attempt DESC LIMIT 1");
}

static void one_goes(struct settled *t)
{
	clickhouse_server_do(&t->server,
			     "ALTER TABLE clicks DELETE WHERE offset = 0 "
			     "SETTINGS mutations_sync = 1");
}

/* Inserts six clicks, two of them by a robot. */
static void insert_some(struct settled *t)
{
	settled_insert_some(t, START, 4);
	settled_insert(t, (struct clicks){START * CLOCK_SECOND, 2, 1,
					  "redirected", "bot", 1, 1});
}

static void what_changes_before_it_is_compared_is_not_published(void **state)
{
	struct settled *t = *state;
	static const struct {
		void (*act)(struct settled *t);
		const char *text;
	} acts[] = {
		{lose_slots, "5 and 6 events were staged, of 6 to 6"},
		{double_slots, "12 and 6 events were staged, of 6 to 6"},
		{more_visits, "6 and 7 events were staged, of 6 to 6"},
		{one_goes, "6 and 5 events were staged, of 6 to 5"},
	};

	insert_some(t);
	for (size_t i = 0; i < sizeof(acts) / sizeof(*acts); i++) {
		struct settle_count n;
		struct error err;

		t->on_stopping = acts[i].act;
		t->stopping_at = 2;
		n = settle_usual_day(t, -1, &err);
		assert_int_equal(err.code, ERROR_PROTOCOL);
		assert_non_null(strstr(err.text, acts[i].text));
		assert_int_equal(n.done, 1);
		assert_int_equal(n.published, 0);
		assert_settled(t, "0\t0");
	}
}

static void what_changes_after_it_was_compared_is_not_published(void **state)
{
	struct settled *t = *state;
	static void (*const acts[])(struct settled *
				    t) = {lose_slots, lose_visits, double_slots,
					  double_visits, lose_both};

	insert_some(t);
	for (size_t i = 0; i < sizeof(acts) / sizeof(*acts); i++) {
		struct settle_count n;
		struct error err;

		t->on_lease = acts[i];
		t->lease_at = 1;
		n = settle_usual_day(t, -1, &err);
		assert_int_equal(err.code, ERROR_PROTOCOL);
		assert_non_null(strstr(err.text, "it is not what was counted"));
		assert_int_equal(n.published, 0);
		assert_settled(t, "0\t0");
	}
}

static void lose_whole(struct settled *t)
{
	clickhouse_server_do(&t->server,
			     "ALTER TABLE link_days DELETE WHERE "
			     "part = 'whole' SETTINGS mutations_sync = 1");
}

static void lose_account(struct settled *t)
{
	clickhouse_server_do(&t->server,
			     "ALTER TABLE link_days UPDATE pv = pv - 1 WHERE "
			     "part = 'account' AND account = 'acme' "
			     "SETTINGS mutations_sync = 1");
}

/* The parts of a link that changed hands have to be of the same rows. */
static void parts_that_differ_are_not_published(void **state)
{
	static void (*const acts[])(struct settled * t) = {lose_whole,
							   lose_account};
	struct settled *t = *state;

	insert_some(t);
	t->owner = "bob";
	settled_insert_some(t, START, 3);
	for (size_t i = 0; i < sizeof(acts) / sizeof(*acts); i++) {
		struct error err;

		t->on_lease = acts[i];
		t->lease_at = 1;
		assert_int_equal(settle_usual_day(t, -1, &err).published, 0);
		assert_int_equal(err.code, ERROR_PROTOCOL);
		assert_settled(t, "0\t0");
	}
}

static void rows_that_come_while_it_is_computed_are_no_fault(void **state)
{
	struct settled *t = *state;
	struct error err;

	insert_some(t);
	for (int i = 1; i <= 2; i++) {
		t->on_stopping = settled_rows_come;
		t->stopping_at = i;
		assert_int_equal(settle_usual_day(t, 0, &err).published, 1);
	}
	assert_settled(t, "2\t0");
}

static void nothing_is_computed_after_it_was_told_to_stop(void **state)
{
	struct settled *t = *state;
	struct error err;

	insert_some(t);
	t->stops = true;
	for (int i = 1; i <= 2; i++) {
		t->stopping_at = i;
		settle_usual_day(t, -1, &err);
		assert_int_equal(err.code, ERROR_STOPPED);
		assert_true(err.retriable);
	}
	assert_settled(t, "0\t0");
	assert_string_equal(
		clickhouse_server_ask(&t->server,
				      "SELECT (SELECT uniqExact(attempt) FROM "
				      "link_slots), (SELECT count() FROM "
				      "link_days)"),
		"1\t0");
}

static void nothing_is_published_without_the_lease(void **state)
{
	struct settled *t = *state;
	struct error err;

	insert_some(t);
	t->lost = true;
	settle_usual_day(t, -1, &err);
	assert_int_equal(err.code, ERROR_STOPPED);
	assert_settled(t, "0\t0");
	/* The day is not held back either. */
	settled_publish_hour(t, START, 5, 7);
	settle_usual_day(t, -1, &err);
	assert_int_equal(err.code, ERROR_STOPPED);
	assert_settled(t, "0\t0");
}

static void an_attempt_that_is_too_old_is_not_published(void **state)
{
	struct settled *t = *state;
	struct error err;

	insert_some(t);
	t->on_lease = settled_time_passes;
	t->lease_at = 1;
	settle_usual_day(t, -1, &err);
	assert_int_equal(err.code, ERROR_LATE);
	assert_settled(t, "0\t0");
}

/* By our clock, which is wrong, the attempt's number is of yesterday. */
static void the_server_looks_at_its_age_too(void **state)
{
	struct settled *t = *state;
	struct error err;

	insert_some(t);
	t->s.clock.server_ms -= CLOCK_DAY;
	settle_usual_day(t, -1, &err);
	assert_non_null(strstr(err.text, "it is not what was counted"));
	assert_settled(t, "0\t0");
}

static void drop_its_day_and_rows(struct settled *t)
{
	settled_drop_its_day(t);
	one_goes(t);
}

static void a_day_that_is_dropped_meanwhile_is_left(void **state)
{
	struct settled *t = *state;
	struct error err;

	insert_some(t);
	for (int i = 0; i < 2; i++) {
		/* Missing rows are no fault in this case. */
		t->on_stopping = drop_its_day_and_rows;
		t->on_lease = settled_drop_its_day;
		t->stopping_at = i ? 0 : 2;
		t->lease_at = i;
		clickhouse_server_do(&t->server, "TRUNCATE TABLE settled");
		settle_usual_day(t, -1, &err);
		assert_int_equal(err.code, ERROR_CONFLICT);
		assert_settled(t, "0\t0");
	}
	clickhouse_server_do(&t->server, "TRUNCATE TABLE settled");
	t->on_lease = settled_drop_another_day;
	t->lease_at = 1;
	assert_int_equal(settle_usual_day(t, 0, &err).published, 1);
	assert_settled(t, "1\t0");
}

/* A shortage does not count if the drop of the day caused it. */
static void a_day_that_lacks_rows_since_it_was_dropped_is_left(void **state)
{
	struct settled *t = *state;
	struct error err;

	insert_some(t);
	settled_publish_hour(t, START, 5, 7);
	settled_drop_its_day(t);
	settle_usual_day(t, -1, &err);
	assert_int_equal(err.code, ERROR_CONFLICT);
	assert_int_equal(t->shortages, 0);
	assert_settled(t, "0\t0");
}

/* --- days that lack rows ----------------------------------------------------
 */

static void assert_shortage(struct settled *t, bool held, int before, int rows)
{
	assert_true(t->shortage.day);
	assert_int_equal(t->shortage.held, held);
	assert_int_equal(t->shortage.start, START);
	assert_int_equal(t->shortage.before, before);
	assert_int_equal(t->shortage.reported, the_day.rows);
	assert_int_equal(t->shortage.rows, rows);
}

static void a_day_of_fewer_rows_than_its_hours_is_held_back(void **state)
{
	struct settled *t = *state;
	struct error err;

	insert_some(t);
	settled_publish_hour(t, START, 5, 7);
	assert_int_equal(settle_usual_day(t, 0, &err).published, 0);
	assert_int_equal(t->shortages, 1);
	assert_shortage(t, true, 7, 6);
	assert_settled(t, "0\t1");
	assert_string_equal(
		clickhouse_server_ask(&t->server,
				      "SELECT blocks, rows, attempt > 7 FROM "
				      "settled WHERE kind = 'held_day'"),
		"3\t9\t1");
	t->s.allow_fewer = true;
	assert_int_equal(settle_usual_day(t, 0, &err).published, 1);
	assert_int_equal(t->shortages, 2);
	assert_shortage(t, false, 7, 6);
	t->s.allow_fewer = false;
	settled_rows_come(t);
	assert_int_equal(settle_usual_day(t, 0, &err).published, 1);
	assert_int_equal(t->shortages, 2);
}

/* The hours have as many events: a click without a link replaced one with a
 * link. */
static void a_day_of_fewer_than_were_published_is_held_back(void **state)
{
	struct settled *t = *state;
	struct error err;

	insert_some(t);
	settle_usual_day(t, 0, &err);
	one_goes(t);
	settled_insert(t, (struct clicks){START * CLOCK_SECOND, 1, 0,
					  "not_found", "human", 1, 1});
	assert_int_equal(settle_usual_day(t, 0, &err).published, 0);
	assert_shortage(t, true, 6, 5);
	assert_settled(t, "1\t1");
	t->s.allow_fewer = true;
	assert_int_equal(settle_usual_day(t, 0, &err).published, 1);
	assert_shortage(t, false, 6, 5);
	/* By now the day has as many rows as were published. */
	t->s.allow_fewer = false;
	assert_int_equal(settle_usual_day(t, 0, &err).published, 1);
	assert_int_equal(t->shortages, 2);
}

/* --- rows that were taken back ----------------------------------------------
 */

static void a_day_comes_after_the_hours_that_are_taken_back(void **state)
{
	struct settled *t = *state;
	struct error err;

	insert_some(t);
	settled_publish_hour(t, START, 5, 7);
	settled_take_back(t, "a", "undo", 0, START, 1);
	/* Rows of the day are being deleted. */
	assert_int_equal(settle_usual_day(t, 0, &err).published, 0);
	assert_int_equal(t->shortages, 0);
	assert_settled(t, "0\t0");
	/* The rows are gone; the hour has no such report yet. */
	settled_take_back(t, "a", "taken", settling_now(&t->s), START, 1);
	clickhouse_server_do(&t->server,
			     "INSERT INTO ingest_progress (topic, rows, hours) "
			     "VALUES ('x', 1, {%" PRId64 ": 1})",
			     START);
	clickhouse_server_do(&t->server,
			     "INSERT INTO ingest_progress (topic, rows, hours) "
			     "VALUES ('y', 1, {%" PRId64 ": 1})",
			     START);
	assert_int_equal(settle_usual_day(t, 0, &err).published, 0);
	assert_int_equal(t->shortages, 0);
	assert_settled(t, "0\t0");
	/* No hour waits to be settled any more, so the shortage is reported. */
	clickhouse_server_do(&t->server, "TRUNCATE TABLE ingest_progress");
	assert_int_equal(settle_usual_day(t, 0, &err).published, 0);
	assert_int_equal(t->shortages, 1);
	assert_settled(t, "0\t1");
	/* The hours are settled without the rows. */
	settled_publish_hour(t, START, 6, 6);
	assert_int_equal(settle_usual_day(t, 0, &err).published, 1);
	assert_settled(t, "1\t1");
}

static void a_day_that_lacks_more_than_was_taken_is_held_back(void **state)
{
	struct settled *t = *state;
	struct error err;

	insert_some(t);
	settled_publish_hour(t, START, 5, 8);
	settled_take_back(t, "a", "undo", 0, START, 1);
	assert_int_equal(settle_usual_day(t, 0, &err).published, 0);
	assert_int_equal(t->shortages, 1);
	assert_settled(t, "0\t1");
}

static void a_day_may_lack_what_was_taken_since(void **state)
{
	struct settled *t = *state;
	struct error err;
	struct stale day = the_day;

	insert_some(t);
	settle_usual_day(t, 0, &err);
	day.was = true;
	day.was_attempt = settling_attempt_at(settling_now(&t->s) - 1000);
	one_goes(t);
	settled_take_back(t, "a", "undo", 0, START + 23 * HOUR, 1);
	settled_take_back(t, "a", "taken", settling_now(&t->s), START, 1);
	assert_int_equal(settle_day(t, day, 0, &err).published, 1);
	assert_int_equal(t->shortages, 0);
}

/* --- events that were sent twice --------------------------------------------
 */

static void comes_again(struct settled *t)
{
	clickhouse_server_do(
		&t->server,
		"INSERT INTO clicks SELECT * REPLACE (offset + 1000 AS offset, "
		"true AS maybe_sent, append_time + 1 AS append_time) "
		"FROM (SELECT * FROM clicks WHERE offset = 0)");
}

static void is_marked(struct settled *t)
{
	clickhouse_server_do(&t->server,
			     "ALTER TABLE clicks UPDATE outcome = 'repeated' "
			     "WHERE offset = 1 SETTINGS mutations_sync = 1");
}

/* This includes an event in the last moment of the day. */
static void events_that_turn_up_while_it_is_computed_delay_it(void **state)
{
	struct settled *t = *state;
	struct error err;

	settled_insert_some(t, START + DAY - 1, 4);
	t->on_stopping = comes_again;
	t->stopping_at = 2;
	settle_usual_day(t, -1, &err);
	assert_int_equal(err.code, ERROR_CONFLICT);
	assert_true(err.retriable);
	assert_settled(t, "0\t0");
	t->on_stopping = is_marked;
	t->stopping_at = 2;
	settle_usual_day(t, -1, &err);
	assert_int_equal(err.code, ERROR_CONFLICT);
	assert_settled(t, "0\t0");
	assert_int_equal(settle_usual_day(t, 0, &err).published, 1);
	assert_string_equal(
		clickhouse_server_ask(&t->server,
				      "SELECT clicks, ineffective FROM "
				      "link_slots WHERE attempt = (SELECT "
				      "max(attempt) FROM link_slots)"),
		"3\t2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SETTLED_TEST(a_day_has_each_figure_of_its_rows),
		SETTLED_TEST(a_day_on_which_a_link_changed_hands_has_each_part),
		SETTLED_TEST(
			what_changes_before_it_is_compared_is_not_published),
		SETTLED_TEST(
			what_changes_after_it_was_compared_is_not_published),
		SETTLED_TEST(parts_that_differ_are_not_published),
		SETTLED_TEST(rows_that_come_while_it_is_computed_are_no_fault),
		SETTLED_TEST(nothing_is_computed_after_it_was_told_to_stop),
		SETTLED_TEST(nothing_is_published_without_the_lease),
		SETTLED_TEST(an_attempt_that_is_too_old_is_not_published),
		SETTLED_TEST(the_server_looks_at_its_age_too),
		SETTLED_TEST(a_day_that_is_dropped_meanwhile_is_left),
		SETTLED_TEST(
			a_day_that_lacks_rows_since_it_was_dropped_is_left),
		SETTLED_TEST(a_day_of_fewer_rows_than_its_hours_is_held_back),
		SETTLED_TEST(a_day_of_fewer_than_were_published_is_held_back),
		SETTLED_TEST(a_day_comes_after_the_hours_that_are_taken_back),
		SETTLED_TEST(a_day_that_lacks_more_than_was_taken_is_held_back),
		SETTLED_TEST(a_day_may_lack_what_was_taken_since),
		SETTLED_TEST(events_that_turn_up_while_it_is_computed_delay_it),
	};

	return cmocka_run_group_tests(tests, settled_open, settled_close);
}
