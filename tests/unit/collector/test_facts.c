/* The facts about a partition from which a plan is made: those of a real
 * ClickHouse, of Kafka and of the settings. */
#include "tests/unit/collector/stored_world.h"

static void facts_are_what_clickhouse_says(void **state)
{
	struct clickhouse_server *s = *state;
	struct plan_facts f = {.start = PLAN_EARLIEST};
	struct stored_key key = {"clicks", "facts", 3, 0};
	struct ranges stored = {0};
	struct stored_report report;
	struct error err = {0};

	store_decision(s, "facts", "3, 2, 'resume', 10, 5");
	store_report(s, "facts",
		     (struct told){10, 19, 10, 0, 0, 0, 1000000000});
	store_clicks(s, "facts", 2, 3, 10, 29);
	store_decision(s, "facts", "3, 2, 'same', 20, 0");
	tell_of(s, "facts", 1, 0, 2, (struct told){0, 9, 10, 0, 0, 0, 0});
	assert_int_equal(
		facts_of_clickhouse(&f, s->ch, &key, 1, &stored, &report, &err),
		0);
	assert_int_equal(key.epoch, 2);
	assert_int_equal(f.epoch, 2);
	assert_true(f.raised);
	assert_true(f.resumes);
	assert_int_equal(f.begin, 10);
	assert_int_equal(f.gap, 5);
	assert_true(f.reported);
	assert_int_equal(f.next, 20);
	assert_true(f.batches);
	assert_true(f.same);
	assert_int_equal(f.same_next, 20);
	assert_int_equal(report.batch_last, 19);
	/* Only a start at the end needs this query. */
	assert_false(f.added);
	ranges_release(&stored);
}

/* The stored rows are read from plan_base on: what was reported is known. */
static void facts_have_what_is_stored_behind_the_reports(void **state)
{
	struct clickhouse_server *s = *state;
	struct plan_facts f = {.start = PLAN_LATEST};
	struct stored_key key = {"clicks", "behind", 3, 0};
	struct ranges stored = {0};
	struct stored_report report;
	struct error err = {0};

	store_clicks(s, "behind", 2, 3, 10, 29);
	/* The report ends at offset 20; its time is unknown. */
	store_report(s, "behind", (struct told){20, 19, 0, 0, 0, 5, 5});
	assert_int_equal(
		facts_of_clickhouse(&f, s->ch, &key, 2, &stored, &report, &err),
		0);
	assert_false(f.raised);
	assert_false(f.resumes);
	assert_false(f.batches);
	assert_int_equal(f.next, 20);
	assert_int_equal(f.stored_end, 30);
	assert_ranges(&stored, "20-29 ");
}

static void one_that_starts_at_the_end_asks_whether_it_was_added(void **state)
{
	struct clickhouse_server *s = *state;
	struct plan_facts f = {.start = PLAN_LATEST};
	struct stored_key key = {"clicks", "at the end", 3, 0};
	struct ranges stored = {0};
	struct stored_report report;
	struct error err = {0};

	tell_of(s, "at the end", 2, 0, 3, (struct told){0, 9, 9, 0, 0, 0, 0});
	assert_int_equal(
		facts_of_clickhouse(&f, s->ch, &key, 2, &stored, &report, &err),
		0);
	assert_true(f.added);
	/* Nothing is queried if there is a commit, or for another start. */
	f = (struct plan_facts){.start = PLAN_LATEST, .committed = true};
	assert_int_equal(
		facts_of_clickhouse(&f, s->ch, &key, 2, &stored, &report, &err),
		0);
	assert_false(f.added);
	f = (struct plan_facts){.start = PLAN_EARLIEST};
	assert_int_equal(
		facts_of_clickhouse(&f, s->ch, &key, 2, &stored, &report, &err),
		0);
	assert_false(f.added);
	ranges_release(&stored);
}

static void facts_of_kafka_are_its_commit_and_its_log(void **state)
{
	struct kafka_committed committed = {.offset = 7};
	struct plan_facts f = {0};

	(void)state;
	strcpy(committed.metadata, "shortloop 1 4 7-9");
	committed.metadata_len = strlen(committed.metadata);
	facts_of_kafka(&f, &committed, 3, 12);
	assert_true(f.committed);
	assert_int_equal(f.commit, 7);
	assert_int_equal(f.kind, INTENT_OURS);
	assert_int_equal(f.intent.epoch, 4);
	assert_int_equal(f.intent.last, 9);
	assert_int_equal(f.log_start, 3);
	assert_int_equal(f.log_end, 12);
	committed = (struct kafka_committed){.offset = 0};
	facts_of_kafka(&f, &committed, 0, 0);
	assert_true(f.committed);
	committed.offset = -1;
	facts_of_kafka(&f, &committed, 0, 0);
	assert_false(f.committed);
	assert_int_equal(f.commit, 0);
}

/* The last batch lies in the log, and something before it came later. */
static void what_looks_odd_is_looked_at(void **state)
{
	const struct plan_facts f = {.log_start = 10, .log_end = 100};
	struct stored_report r = {.batch = true, .batch_last = 50};

	(void)state;
	assert_true(facts_look_odd(&f, &r, 50));
	assert_true(facts_look_odd(&f, &r, 0));
	assert_false(facts_look_odd(&f, &r, 51));
	assert_false(facts_look_odd(&f, &r, -1));
	r.batch_last = 10;
	assert_true(facts_look_odd(&f, &r, 10));
	r.batch_last = 9;
	assert_false(facts_look_odd(&f, &r, 9));
	r.batch_last = 99;
	assert_true(facts_look_odd(&f, &r, 99));
	r.batch_last = 100;
	assert_false(facts_look_odd(&f, &r, 99));
	r = (struct stored_report){.batch_last = 50};
	assert_false(facts_look_odd(&f, &r, 50));
}

static void where_a_partition_starts_is_set(void **state)
{
	static char latest[] = "latest", error[] = "error",
		    earliest[] = "earliest";
	struct collector_settings settings = {.offset_reset = latest};

	(void)state;
	assert_int_equal(facts_start(&settings), PLAN_LATEST);
	settings.offset_reset = error;
	assert_int_equal(facts_start(&settings), PLAN_ASK);
	settings.offset_reset = earliest;
	assert_int_equal(facts_start(&settings), PLAN_EARLIEST);
}

/* Runs all queries, which must fail: a table is missing. */
typedef int ask_fn(struct clickhouse *ch, const struct stored_key *key,
		   struct error *err);

static int ask_epochs(struct clickhouse *ch, const struct stored_key *key,
		      struct error *err)
{
	struct stored_epoch epoch;
	struct passes passes;
	bool same;

	assert_int_equal(stored_epoch(ch, key, 1, &epoch, err), -1);
	assert_int_equal(stored_life(ch, key, &epoch, err), -1);
	assert_int_equal(stored_same(ch, key, 1, &same, err), -1);
	return passes_load(ch, &passes, err);
}

static int ask_progress(struct clickhouse *ch, const struct stored_key *key,
			struct error *err)
{
	struct stored_report report;
	struct stored_batches batches = {0};
	bool is;

	assert_int_equal(stored_report(ch, key, &report, err), -1);
	assert_int_equal(stored_added(ch, key, &is, err), -1);
	assert_int_equal(stored_batches(ch, key, 0, 9, &batches, err), -1);
	return stored_is_reported(ch, key, 0, 9, 0, &is, err);
}

static int ask_clicks(struct clickhouse *ch, const struct stored_key *key,
		      struct error *err)
{
	struct gap_place place = {*key, SINK_CLICKS, 0};
	struct batch gap = {.first = 0, .last = 9};
	struct stored_batches events = {0};
	struct ranges ranges = {0};

	assert_int_equal(stored_ranges(ch, key, 0, 9, 0, &ranges, err), -1);
	assert_int_equal(stored_events(ch, key, 0, 9, &events, err), -1);
	assert_int_equal(stored_hours(ch, key, 0, &gap, err), -1);
	return gap_count(&place, ch, &gap, err);
}

static int ask_all(struct clickhouse *ch, const struct stored_key *key,
		   struct error *err)
{
	struct plan_facts f = {.start = PLAN_LATEST};
	struct stored_key own = *key;
	struct ranges ranges = {0};
	struct stored_report report;

	return facts_of_clickhouse(&f, ch, &own, 1, &ranges, &report, err);
}

static void without_table(struct clickhouse_server *s, const char *table,
			  ask_fn *ask)
{
	struct stored_key key = clicks_of("no table");
	struct error err = {0};

	clickhouse_server_do(s, "RENAME TABLE %s TO elsewhere", table);
	assert_int_equal(ask(s->ch, &key, &err), -1);
	assert_int_equal(err.code, ERROR_REMOTE);
	err = (struct error){0};
	assert_int_equal(ask_all(s->ch, &key, &err), -1);
	assert_int_equal(err.code, ERROR_REMOTE);
	clickhouse_server_do(s, "RENAME TABLE elsewhere TO %s", table);
}

static void what_clickhouse_does_not_tell_is_no_answer(void **state)
{
	without_table(*state, "ingest_epochs", ask_epochs);
	without_table(*state, "ingest_progress", ask_progress);
	without_table(*state, "clicks", ask_clicks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(facts_are_what_clickhouse_says),
		cmocka_unit_test(facts_have_what_is_stored_behind_the_reports),
		cmocka_unit_test(
			one_that_starts_at_the_end_asks_whether_it_was_added),
		cmocka_unit_test(facts_of_kafka_are_its_commit_and_its_log),
		cmocka_unit_test(what_looks_odd_is_looked_at),
		cmocka_unit_test(where_a_partition_starts_is_set),
		cmocka_unit_test(what_clickhouse_does_not_tell_is_no_answer),
	};

	return cmocka_run_group_tests_name("facts", tests, stored_world_set_up,
					   stored_world_tear_down);
}
