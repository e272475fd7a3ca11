#include "tests/unit/unit.h"

#include "aggregator/reconcile/reconcile.h"
#include "aggregator/reconcile/reconcile_gauges.h"
#include "common/clock.h"

static char here[] = "here", there[] = "there";

static void figures_that_are_equal_lose_nothing(void **state)
{
	struct reconciled_hour h = {
		.answered = {5, 1, 1, 1, 2, 100},
		.produced = 10,
		.acknowledged = 10,
		.stored = 10,
		.imported = 3,
		.settled = 13,
	};

	(void)state;
	assert_int_equal(reconciled_due(&h), 10);
	for (enum reconciled_step step = 0; step < LOST_STEPS; step++)
		assert_int_equal(reconciled_lost(&h, step), 0);
	assert_true(reconciled_is_complete(&h));
}

static void what_was_withheld_by_rule_is_not_lost(void **state)
{
	struct reconciled_hour h = {
		.answered = {5, 40, 0, 0, 0, 0},
		.withheld = 38,
		.produced = 6,
	};

	(void)state;
	assert_int_equal(reconciled_due(&h), 7);
	assert_int_equal(reconciled_lost(&h, LOST_BEFORE_PRODUCED), 1);
}

static void each_loss_has_its_step_and_sign(void **state)
{
	struct reconciled_hour h = {
		.answered = {10},
		.produced = 9,
		.acknowledged = 7,
		.stored = 8,
		.settled = 4,
	};

	(void)state;
	assert_int_equal(reconciled_lost(&h, LOST_BEFORE_PRODUCED), 1);
	assert_int_equal(reconciled_lost(&h, LOST_BEFORE_ACKNOWLEDGED), 2);
	assert_int_equal(reconciled_lost(&h, LOST_BEFORE_STORED), -1);
	assert_int_equal(reconciled_lost(&h, LOST_BEFORE_SETTLED), 4);
}

static void rows_that_wait_to_be_settled_are_not_lost(void **state)
{
	struct reconciled_hour h = {.acknowledged = 8,
				    .stored = 8,
				    .imported = 5,
				    .settled = 4,
				    .waits = true};
	struct reconciliation r = {.hours = &h, .count = 1};
	struct reconciled_sum sum;

	(void)state;
	assert_int_equal(reconciled_waiting(&h), 9);
	assert_int_equal(reconciled_lost(&h, LOST_BEFORE_SETTLED), 0);
	assert_false(reconciled_is_complete(&h));
	assert_true(reconciled_is_passed(&h));
	reconciliation_sum(&r, &sum);
	assert_int_equal(sum.waiting, 9);
	assert_int_equal(sum.lost[LOST_BEFORE_SETTLED], 0);
	/* An import that is taken back leaves fewer rows than counts. */
	h.settled = 20;
	assert_int_equal(reconciled_waiting(&h), 0);
	assert_int_equal(reconciled_lost(&h, LOST_BEFORE_SETTLED), 0);
	h.waits = false;
	assert_int_equal(reconciled_lost(&h, LOST_BEFORE_SETTLED), -7);
}

static void an_hour_of_which_something_is_unknown_is_not_complete(void **state)
{
	struct reconciled_hour h = {.settling = true};

	(void)state;
	assert_true(reconciled_is_reported(&h));
	assert_false(reconciled_is_complete(&h));
	h = (struct reconciled_hour){.unknown = 1};
	assert_false(reconciled_is_reported(&h));
	h = (struct reconciled_hour){.unreported = 1};
	assert_false(reconciled_is_reported(&h));
	h = (struct reconciled_hour){.inexact = true};
	assert_false(reconciled_is_reported(&h));
}

static void nothing_is_unknown_of_one_that_has_ended(void **state)
{
	const struct redirector_life lives[] = {{here, 1, 100, 200, true}};

	(void)state;
	assert_int_equal(redirector_life_unknown_to(lives, 1, 0), 200);
}

static void one_that_fell_silent_is_unknown_until_the_next_start(void **state)
{
	const struct redirector_life lives[] = {{here, 1, 100, 200, false},
						{there, 2, 250, 900, true},
						{here, 3, 300, 400, true},
						{here, 4, 500, 600, true}};

	(void)state;
	assert_int_equal(redirector_life_unknown_to(lives, 4, 0), 300);
}

/* A life that began before the other fell silent runs beside it. */
static void or_for_a_day(void **state)
{
	const struct redirector_life lives[] = {{here, 1, 100, 200, false},
						{here, 2, 150, 900, true}};

	(void)state;
	assert_int_equal(redirector_life_unknown_to(lives, 2, 0),
			 200 + CLOCK_DAY);
}

static void metrics_let_no_hour_hide_another(void **state)
{
	struct metrics *m = metrics_new();
	struct reconcile_gauges g = {0};
	/* Three events are lost, three are too many, and two hours prove
	 * nothing. */
	struct reconciled_hour hours[] = {
		{.start = 0,
		 .answered = {9},
		 .produced = 6,
		 .acknowledged = 6,
		 .stored = 6,
		 .settled = 6},
		{.start = 3600,
		 .answered = {5},
		 .produced = 8,
		 .acknowledged = 8,
		 .stored = 8,
		 .settled = 8},
		{.start = 7200, .answered = {70}, .unknown = 1},
		{.start = 10800, .answered = {70}, .settling = true},
	};
	const struct reconciliation r = {.hours = hours, .count = 4};

	(void)state;
	reconcile_gauges_register(&g, m);
	reconcile_gauges_set(&g, &r);
	assert_int_equal(metric_value(g.lost[LOST_BEFORE_PRODUCED]), 3);
	assert_int_equal(metric_value(g.surplus[LOST_BEFORE_PRODUCED]), 3);
	assert_int_equal(metric_value(g.lost[LOST_BEFORE_SETTLED]), 0);
	assert_int_equal(metric_value(g.hours), 2);
	assert_int_equal(metric_value(g.unknown_hours), 2);
	assert_int_equal(metric_value(g.until), 14400);
	metrics_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_that_are_equal_lose_nothing),
		cmocka_unit_test(what_was_withheld_by_rule_is_not_lost),
		cmocka_unit_test(each_loss_has_its_step_and_sign),
		cmocka_unit_test(rows_that_wait_to_be_settled_are_not_lost),
		cmocka_unit_test(
			an_hour_of_which_something_is_unknown_is_not_complete),
		cmocka_unit_test(nothing_is_unknown_of_one_that_has_ended),
		cmocka_unit_test(
			one_that_fell_silent_is_unknown_until_the_next_start),
		cmocka_unit_test(or_for_a_day),
		cmocka_unit_test(metrics_let_no_hour_hide_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
