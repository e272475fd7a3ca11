#include "tests/unit/unit.h"

#include "aggregator/settle/promise.h"

#define NOW INT64_C(1792900000000)

static void
a_clock_goes_back_by_more_than_jitter_and_half_of_what_is_read_again(
	void **state)
{
	(void)state;
	assert_false(promise_clock_went_back(0, 0));
	assert_false(promise_clock_went_back(-5000, 0));
	assert_false(promise_clock_went_back(1000, 0));
	assert_true(promise_clock_went_back(1001, 0));
	assert_false(promise_clock_went_back(30000, 60000));
	assert_true(promise_clock_went_back(30001, 60000));
}

static void reports_are_read_again_from_the_earlier_of_both_clocks(void **state)
{
	struct progress last = {.read_until = NOW};

	(void)state;
	assert_int_equal(promise_read_from(&last, NOW + 5000, 60000),
			 NOW - 60000);
	assert_int_equal(promise_read_from(&last, NOW, 60000), NOW - 60000);
	assert_int_equal(promise_read_from(&last, NOW - 5000, 60000),
			 NOW - 65000);
	/* Reading begins in 1970 at the earliest, as it does before the first
	 * pass. */
	last.read_until = 60000;
	assert_int_equal(promise_read_from(&last, NOW, 60000), 0);
	assert_int_equal(promise_read_from(&last, NOW, 60001), 0);
	assert_int_equal(promise_read_from(&last, NOW, 59999), 1);
}

static void a_promise_waits_for_edges_and_is_kept(void **state)
{
	struct progress last = {.complete_until = NOW};

	(void)state;
	assert_int_equal(promise_mark(NOW + 7000, 5000, &last), NOW + 2000);
	assert_int_equal(promise_mark(NOW + 5000, 5000, &last), NOW);
	assert_int_equal(promise_mark(NOW + 4999, 5000, &last), NOW);
	assert_int_equal(promise_mark(0, 5000, &last), NOW);
	last.complete_until = 0;
	assert_int_equal(promise_mark(0, 5000, &last), 0);
	last.complete_until = -9000;
	assert_int_equal(promise_mark(0, 5000, &last), 0);
}

static struct progress compute_next_progress(int64_t before, int64_t now,
					     size_t left, int64_t left_from)
{
	const struct progress last = {
		.read_until = 11, .complete_until = before, .mended = 5};
	const struct progress can = {
		.read_until = 22, .complete_until = now, .mended = 5};

	return promise_next(&last, &can, left, left_from);
}

static void without_hours_that_are_left_all_is_promised(void **state)
{
	struct progress p =
		compute_next_progress(NOW - 9000, NOW, 0, INT64_MAX);

	(void)state;
	assert_int_equal(p.complete_until, NOW);
	assert_int_equal(p.read_until, 22);
	assert_int_equal(p.mended, 5);
}

static void it_stays_before_the_first_hour_that_is_left(void **state)
{
	const int64_t hour = NOW / 1000;
	struct progress p =
		compute_next_progress(NOW - 9000, NOW + 5000, 1, hour);

	(void)state;
	assert_int_equal(p.complete_until, NOW);
	assert_int_equal(p.read_until, 11);
	/* A part of the hour's first second does not belong to the hour before.
	 */
	assert_int_equal(
		compute_next_progress(0, NOW + 999, 1, hour).complete_until,
		NOW);
	assert_int_equal(compute_next_progress(0, NOW, 1, hour).complete_until,
			 NOW);
	assert_int_equal(
		compute_next_progress(0, NOW - 1, 1, hour).complete_until,
		NOW - 1);
	/* Some hours are left, but the watermark waits for none of them. */
	p = compute_next_progress(NOW - 9000, NOW, 3, INT64_MAX);
	assert_int_equal(p.complete_until, NOW);
	assert_int_equal(p.read_until, 11);
}

static void what_was_promised_before_is_not_taken_back(void **state)
{
	(void)state;
	assert_int_equal(
		compute_next_progress(NOW, NOW + 5000, 1, NOW / 1000 - 3600)
			.complete_until,
		NOW);
	assert_int_equal(compute_next_progress(NOW, NOW - 5000, 0, INT64_MAX)
				 .complete_until,
			 NOW);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_clock_goes_back_by_more_than_jitter_and_half_of_what_is_read_again),
		cmocka_unit_test(
			reports_are_read_again_from_the_earlier_of_both_clocks),
		cmocka_unit_test(a_promise_waits_for_edges_and_is_kept),
		cmocka_unit_test(without_hours_that_are_left_all_is_promised),
		cmocka_unit_test(it_stays_before_the_first_hour_that_is_left),
		cmocka_unit_test(what_was_promised_before_is_not_taken_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
