/* A partition's new owner queries a real ClickHouse and reports to it; the test
 * provides Kafka's answers. */
#include "tests/unit/collector/sink_world.h"
#include "tests/unit/collector/slow_insert.h"

#include "collector/ingest/recovery.h"

static const struct recovery_setup setup = {
	.epoch = 2, .start = PLAN_ASK, .collector = "me"};

/* Kafka has the offsets 0 to 999, and 5-9 were about to be stored. */
static struct recovery *begin_recovery(const char *topic)
{
	struct recovery *r = recovery_new(&setup, topic, 4, SINK_CLICKS);

	assert_non_null(r);
	assert_int_equal(r->facts.start, PLAN_ASK);
	assert_int_equal(r->status, -1);
	r->facts.committed = true;
	r->facts.commit = 5;
	r->facts.kind = INTENT_OURS;
	r->facts.intent = (struct intent){2, true, 5, 9};
	r->facts.log_end = 1000;
	return r;
}

static struct stored_report query_clickhouse(struct sink_world *w,
					     struct recovery *r)
{
	struct stored_report report = {0};
	struct error err = {0};

	if (recovery_ask_clickhouse(r, w->sink, &report, &err) < 0)
		fail_msg("%s", err.text);
	return report;
}

static void decide_plan(struct sink_world *w, struct recovery *r,
			int64_t since_ms)
{
	struct error err = {0};

	if (recovery_decide(r, w->sink, since_ms, &err) < 0)
		fail_msg("%s", err.text);
}

static void store_clicks(struct sink_world *w, const char *topic,
			 unsigned first, unsigned last)
{
	clickhouse_server_do(&w->server,
			     "INSERT INTO clicks (epoch, topic, partition, "
			     "offset, append_time) SELECT 2, '%s', 4, number, "
			     "now() FROM numbers(%u, %u)",
			     topic, first, last - first + 1);
}

static void store_report(struct sink_world *w, const char *topic,
			 unsigned first, unsigned last)
{
	clickhouse_server_do(
		&w->server,
		"INSERT INTO ingest_progress (epoch, topic, partition, first, "
		"last, rows, append_time) SELECT 2, '%s', 4, %u, %u, %u, now()",
		topic, first, last, last - first + 1);
}

/* Rows that the former owner stores after the query would be stored twice. */
static void what_the_owner_before_has_under_way_is_ended(void **state)
{
	struct sink_world *w = *state;
	struct recovery *r = begin_recovery("under way");
	struct slow_insert rows, other;

	slow_insert_start(&w->server, &rows, "clicks", "2:under way:4:5-9");
	slow_insert_start(&w->server, &other, "clicks", "2:under way:5:5-9");
	query_clickhouse(w, r);
	assert_int_equal(slow_inserts_running(&w->server), 1);
	slow_insert_end(&rows);
	assert_int_equal(rows.status, -1);
	clickhouse_server_do(&w->server,
			     "KILL QUERY WHERE Settings['log_comment'] = '%s' "
			     "SYNC",
			     other.id);
	slow_insert_end(&other);
	recovery_free(r);
}

static void what_clickhouse_has_is_known_before_it_goes_on(void **state)
{
	struct sink_world *w = *state;
	struct recovery *r = begin_recovery("known");
	struct stored_report told;

	store_clicks(w, "known", 0, 6);
	store_report(w, "known", 0, 4);
	told = query_clickhouse(w, r);
	assert_true(told.any);
	assert_int_equal(told.next, 5);
	assert_true(r->facts.reported);
	assert_int_equal(r->facts.epoch, 2);
	assert_int_equal(r->facts.stored_end, 7);
	assert_int_equal(ranges_end(&r->stored), 7);
	assert_null(r->forgotten);
	decide_plan(w, r, told.since_ms);
	assert_int_equal(r->since_ms, told.since_ms);
	assert_int_equal(r->plan.step, PLAN_READ);
	assert_int_equal(r->plan.position, 5);
	assert_true(r->plan.intent.has_batch);
	assert_false(r->plan.gap);
	recovery_free(r);
}

static void who_is_forgotten_is_known_before_it_goes_on(void **state)
{
	struct sink_world *w = *state;
	struct recovery *r = begin_recovery("forgotten");

	clickhouse_server_do(&w->server, "INSERT INTO forgotten SELECT 7, "
					 "repeat('\\0', 20), 0, 'me'");
	query_clickhouse(w, r);
	assert_non_null(r->forgotten);
	assert_true(forgotten_has_link(r->forgotten, 7));
	clickhouse_server_do(&w->server, "TRUNCATE TABLE forgotten");
	recovery_free(r);
}

static const char *progress_of(struct sink_world *w, const char *topic)
{
	return clickhouse_server_ask(
		&w->server,
		"SELECT epoch, partition, first, last, rows, lost, collector "
		"FROM ingest_progress WHERE topic = '%s' AND lost > 0 "
		"ORDER BY first FORMAT TabSeparated",
		topic);
}

/* The gap may be reported again, since the former reporter may have died. */
static void a_gap_is_told_of_once(void **state)
{
	struct sink_world *w = *state;

	store_clicks(w, "gap", 12, 14);
	store_report(w, "gap", 0, 9);
	for (int i = 0; i < 2; i++) {
		struct recovery *r = begin_recovery("gap");

		r->facts.intent.has_batch = false;
		r->facts.commit = 10;
		r->facts.log_start = 20;
		query_clickhouse(w, r);
		/* The state is as if the first collector had died during its
		 * report. */
		r->facts.next = 10;
		r->facts.reported = true;
		decide_plan(w, r, 0);
		assert_true(r->plan.gap);
		assert_int_equal(r->plan.position, 20);
		assert_int_equal(r->lost, 7);
		recovery_free(r);
	}
	assert_string_equal(progress_of(w, "gap"), "2\t4\t10\t19\t3\t7\tme");
}

static void one_that_stops_tells_of_no_gap(void **state)
{
	struct sink_world *w = *state;
	struct recovery *r = begin_recovery("stops");

	r->facts.epoch = 2;
	r->facts.kind = INTENT_LATER;
	r->facts.log_start = 20;
	decide_plan(w, r, 0);
	assert_int_equal(r->plan.step, PLAN_STOP);
	assert_string_equal(progress_of(w, "stops"), "");
	recovery_free(r);
}

static void what_cannot_be_asked_is_told(void **state)
{
	struct sink_world *w = *state;
	struct recovery *r = begin_recovery("not told");
	struct stored_report told;
	struct error err = {0};

	clickhouse_server_do(&w->server, "RENAME TABLE forgotten TO elsewhere");
	assert_int_equal(recovery_ask_clickhouse(r, w->sink, &told, &err), -1);
	clickhouse_server_do(&w->server, "RENAME TABLE elsewhere TO forgotten");
	clickhouse_server_do(&w->server, "RENAME TABLE clicks TO elsewhere");
	assert_int_equal(recovery_ask_clickhouse(r, w->sink, &told, &err), -1);
	r->facts.reported = true;
	r->facts.next = 5;
	r->facts.epoch = 2;
	r->facts.log_start = 20;
	assert_int_equal(recovery_decide(r, w->sink, 0, &err), -1);
	clickhouse_server_do(&w->server, "RENAME TABLE elsewhere TO clicks");
	recovery_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_owner_before_has_under_way_is_ended),
		cmocka_unit_test(
			what_clickhouse_has_is_known_before_it_goes_on),
		cmocka_unit_test(who_is_forgotten_is_known_before_it_goes_on),
		cmocka_unit_test(a_gap_is_told_of_once),
		cmocka_unit_test(one_that_stops_tells_of_no_gap),
		cmocka_unit_test(what_cannot_be_asked_is_told),
	};

	return cmocka_run_group_tests_name("recovery", tests, sink_world_set_up,
					   sink_world_tear_down);
}
