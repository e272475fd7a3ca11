#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collector/exactly_once/plan.h"

/* A partition with the offsets 0 to 999; all before 400 is done. */
static struct plan_facts make_usual_facts(void)
{
	return (struct plan_facts){
		.committed = true,
		.commit = 400,
		.kind = INTENT_OURS,
		.intent = {.epoch = 2},
		.log_end = 1000,
		.epoch = 2,
		.reported = true,
		.next = 400,
	};
}

static void name_batch(struct plan_facts *f, uint64_t first, uint64_t last)
{
	f->intent.has_batch = true;
	f->intent.first = first;
	f->intent.last = last;
}

static struct plan expect_plan_to_read(const struct plan_facts *f,
				       uint64_t position)
{
	struct plan p = plan_make(f);

	assert_int_equal(p.step, PLAN_READ);
	assert_int_equal(p.position, position);
	assert_int_equal(p.intent.epoch, f->epoch);
	return p;
}

static void expect_plan_to_stop(const struct plan_facts *f)
{
	struct plan p = plan_make(f);

	assert_int_equal(p.step, PLAN_STOP);
	assert_non_null(p.reason);
}

static void it_goes_on_after_what_was_reported(void **state)
{
	struct plan_facts f = make_usual_facts();

	(void)state;
	assert_false(expect_plan_to_read(&f, 400).intent.has_batch);
	/* The commit was rolled back, or failed. */
	f.commit = 100;
	expect_plan_to_read(&f, 400);
	/* No other program wrote to the table. */
	f.kind = INTENT_FOREIGN;
	expect_plan_to_read(&f, 400);
}

static void a_block_that_was_named_is_made_again_as_it_was(void **state)
{
	struct plan_facts f = make_usual_facts();
	struct plan p;

	(void)state;
	name_batch(&f, 400, 499);
	p = expect_plan_to_read(&f, 400);
	assert_true(p.intent.has_batch);
	assert_int_equal(p.intent.first, 400);
	assert_int_equal(p.intent.last, 499);
	/* This holds even if the rows are stored and only the report is
	 * missing. */
	f.stored_end = 500;
	assert_true(expect_plan_to_read(&f, 400).intent.has_batch);
}

static void a_block_of_one_event_is_made_again(void **state)
{
	struct plan_facts f = make_usual_facts();

	(void)state;
	name_batch(&f, 400, 400);
	assert_true(expect_plan_to_read(&f, 400).intent.has_batch);
	f.next = 401;
	assert_false(expect_plan_to_read(&f, 401).intent.has_batch);
}

static void a_commit_at_the_start_of_an_empty_log_is_believed(void **state)
{
	struct plan_facts f = {.committed = true,
			       .kind = INTENT_OURS,
			       .intent = {.epoch = 2},
			       .epoch = 2,
			       .start = PLAN_ASK};

	(void)state;
	assert_false(expect_plan_to_read(&f, 0).gap);
}

/* The epoch was raised in the configuration. */
static void a_commit_of_an_earlier_epoch_says_nothing(void **state)
{
	struct plan_facts f = {.committed = true,
			       .commit = 400,
			       .kind = INTENT_OURS,
			       .intent = {2, true, 400, 499},
			       .log_start = 5,
			       .log_end = 30,
			       .epoch = 3,
			       .start = PLAN_LATEST};

	(void)state;
	assert_int_equal(plan_base(&f), 0);
	assert_false(expect_plan_to_read(&f, 5).intent.has_batch);
	f.start = PLAN_ASK;
	expect_plan_to_read(&f, 5);
}

static void a_block_that_was_reported_is_not_made_again(void **state)
{
	struct plan_facts f = make_usual_facts();

	(void)state;
	name_batch(&f, 400, 499);
	f.next = 500;
	assert_false(expect_plan_to_read(&f, 500).intent.has_batch);
}

static void what_clickhouse_forgot_is_read_again(void **state)
{
	struct plan_facts f = make_usual_facts();

	(void)state;
	f.next = 200;
	name_batch(&f, 400, 499);
	assert_false(expect_plan_to_read(&f, 200).intent.has_batch);
}

static void
a_partition_that_was_never_touched_starts_as_it_is_told(void **state)
{
	struct plan_facts f = {.log_start = 10, .log_end = 90, .epoch = 1};

	(void)state;
	assert_false(expect_plan_to_read(&f, 10).gap);
	f.start = PLAN_LATEST;
	expect_plan_to_read(&f, 90);
	f.start = PLAN_ASK;
	expect_plan_to_stop(&f);
}

static void an_added_partition_is_read_from_its_start(void **state)
{
	struct plan_facts f = {.log_start = 10,
			       .log_end = 90,
			       .epoch = 1,
			       .start = PLAN_LATEST,
			       .added = true};

	(void)state;
	assert_false(expect_plan_to_read(&f, 10).gap);
	/* A decision that the operator has to make is still open. */
	f.start = PLAN_ASK;
	expect_plan_to_stop(&f);
}

static void a_commit_without_reports_is_believed(void **state)
{
	struct plan_facts f = make_usual_facts();

	(void)state;
	f.reported = false;
	f.next = 0;
	expect_plan_to_read(&f, 400);
	f.kind = INTENT_FOREIGN;
	assert_int_equal(plan_base(&f), 400);
	expect_plan_to_read(&f, 400);
}

static void rows_without_a_commit_stop_it(void **state)
{
	struct plan_facts f = make_usual_facts();

	(void)state;
	f.committed = false;
	expect_plan_to_stop(&f);
	/* Unreported rows stop it, too. */
	f.reported = false;
	f.next = 0;
	f.stored_end = 50;
	expect_plan_to_stop(&f);
}

static void rows_beyond_the_log_stop_it(void **state)
{
	struct plan_facts f = make_usual_facts();

	(void)state;
	f.log_end = 399;
	expect_plan_to_stop(&f);
	f = make_usual_facts();
	f.log_end = 450;
	f.stored_end = 451;
	expect_plan_to_stop(&f);
	/* A named block of a log that has lost it. */
	f.stored_end = 0;
	name_batch(&f, 400, 450);
	expect_plan_to_stop(&f);
	/* A commit stops it, too. */
	f = make_usual_facts();
	f.reported = false;
	f.next = 0;
	f.log_end = 300;
	expect_plan_to_stop(&f);
}

static void an_operator_lets_it_go_on_where_it_was(void **state)
{
	struct plan_facts f = make_usual_facts();

	(void)state;
	f.committed = false;
	f.same = true;
	f.same_next = 400;
	expect_plan_to_read(&f, 400);
	/* The decision was made about another state. */
	f.same_next = 300;
	expect_plan_to_stop(&f);
	/* The log is still too short. */
	f.same_next = 400;
	f.log_end = 10;
	expect_plan_to_stop(&f);
}

static void an_operator_lets_it_start_anew(void **state)
{
	/* Nothing is stored in the new epoch. */
	struct plan_facts f = {.committed = true,
			       .commit = 400,
			       .kind = INTENT_OURS,
			       .intent = {2, true, 400, 499},
			       .log_start = 0,
			       .log_end = 30,
			       .epoch = 3,
			       .raised = true,
			       .start = PLAN_LATEST};

	(void)state;
	assert_false(expect_plan_to_read(&f, 0).intent.has_batch);
	f.kind = INTENT_FOREIGN;
	expect_plan_to_read(&f, 0);
	f.committed = false;
	f.start = PLAN_ASK;
	expect_plan_to_read(&f, 0);
}

static void offsets_that_are_gone_are_a_gap(void **state)
{
	struct plan_facts f = make_usual_facts();
	struct plan p;

	(void)state;
	f.log_start = 400;
	assert_false(expect_plan_to_read(&f, 400).gap);
	f.log_start = 450;
	p = expect_plan_to_read(&f, 450);
	assert_true(p.gap);
	assert_int_equal(p.gap_first, 400);
	/* The rest of a named block keeps the name. */
	name_batch(&f, 400, 499);
	assert_true(expect_plan_to_read(&f, 450).intent.has_batch);
	f.log_start = 499;
	assert_true(expect_plan_to_read(&f, 499).intent.has_batch);
	f.log_start = 500;
	assert_false(expect_plan_to_read(&f, 500).intent.has_batch);
}

static void a_later_version_or_epoch_stops_it(void **state)
{
	struct plan_facts f = make_usual_facts();

	(void)state;
	f.kind = INTENT_LATER;
	expect_plan_to_stop(&f);
	f = make_usual_facts();
	f.intent.epoch = 3;
	expect_plan_to_stop(&f);
	/* This holds even if nothing was reported, and reading would begin
	 * anew. */
	f = (struct plan_facts){.committed = true,
				.commit = 30,
				.kind = INTENT_OURS,
				.intent = {.epoch = 3},
				.log_end = 50,
				.epoch = 2,
				.start = PLAN_EARLIEST};
	expect_plan_to_stop(&f);
}

/* Epoch 3 begins at 20; everything before is of epoch 2. */
static struct plan_facts make_resumed_facts(void)
{
	return (struct plan_facts){.committed = true,
				   .commit = 30,
				   .kind = INTENT_OURS,
				   .intent = {.epoch = 2},
				   .log_end = 25,
				   .epoch = 3,
				   .raised = true,
				   .resumes = true,
				   .begin = 20,
				   .gap = 20,
				   .start = PLAN_ASK};
}

static void a_log_that_was_cut_goes_on_where_it_was_said(void **state)
{
	struct plan_facts f = make_resumed_facts();
	struct plan p;

	(void)state;
	assert_int_equal(plan_base(&f), 20);
	assert_false(expect_plan_to_read(&f, 20).gap);
	/* The skipped offsets are reported. */
	f.begin = 25;
	p = expect_plan_to_read(&f, 25);
	assert_true(p.gap);
	assert_int_equal(p.gap_first, 20);
	/* Offsets that Kafka has deleted since are reported, too. */
	f.log_start = 40;
	f.log_end = 50;
	p = expect_plan_to_read(&f, 40);
	assert_true(p.gap);
	assert_int_equal(p.gap_first, 20);
	/* The log was cut again. */
	f = make_resumed_facts();
	f.log_end = 19;
	expect_plan_to_stop(&f);
}

static void who_told_of_a_gap_and_died_is_followed(void **state)
{
	struct plan_facts f = make_resumed_facts();

	(void)state;
	f.reported = true;
	f.next = 25;
	assert_false(expect_plan_to_read(&f, 25).gap);
	/* Rows without a commit still stop it. */
	f.batches = true;
	expect_plan_to_stop(&f);
	f.batches = false;
	f.stored_end = 25;
	expect_plan_to_stop(&f);
}

static void another_event_where_the_last_one_was_stops_it(void **state)
{
	struct plan_facts f = make_usual_facts();

	(void)state;
	f.cut = true;
	expect_plan_to_stop(&f);
	/* This holds even if an operator confirmed the log as the same. */
	f.same = true;
	f.same_next = 400;
	expect_plan_to_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_goes_on_after_what_was_reported),
		cmocka_unit_test(
			a_block_that_was_named_is_made_again_as_it_was),
		cmocka_unit_test(a_block_of_one_event_is_made_again),
		cmocka_unit_test(
			a_commit_at_the_start_of_an_empty_log_is_believed),
		cmocka_unit_test(a_commit_of_an_earlier_epoch_says_nothing),
		cmocka_unit_test(a_block_that_was_reported_is_not_made_again),
		cmocka_unit_test(what_clickhouse_forgot_is_read_again),
		cmocka_unit_test(
			a_partition_that_was_never_touched_starts_as_it_is_told),
		cmocka_unit_test(an_added_partition_is_read_from_its_start),
		cmocka_unit_test(a_commit_without_reports_is_believed),
		cmocka_unit_test(rows_without_a_commit_stop_it),
		cmocka_unit_test(rows_beyond_the_log_stop_it),
		cmocka_unit_test(an_operator_lets_it_go_on_where_it_was),
		cmocka_unit_test(an_operator_lets_it_start_anew),
		cmocka_unit_test(offsets_that_are_gone_are_a_gap),
		cmocka_unit_test(a_later_version_or_epoch_stops_it),
		cmocka_unit_test(a_log_that_was_cut_goes_on_where_it_was_said),
		cmocka_unit_test(who_told_of_a_gap_and_died_is_followed),
		cmocka_unit_test(another_event_where_the_last_one_was_stops_it),
	};

	return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
