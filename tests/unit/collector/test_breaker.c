#include "tests/unit/unit.h"

#include "collector/ingest/insert_breaker.h"
#include "common/clock.h"

enum {
	RETRY_MAX_MS = 60000,
	TRIAL_MS = 2000, /* same as in insert_breaker.c */
};

static const struct error failure = {.code = ERROR_REMOTE, .text = "away"};

/* Ends the wait. */
static void let_pass(struct insert_breaker *b)
{
	b->retry_at = clock_monotonic_ms();
}

static void failures_that_come_together_count_once(void **state)
{
	struct insert_breaker b = {.retry_backoff_max = RETRY_MAX_MS};

	(void)state;
	for (int i = 0; i < 3; i++)
		insert_breaker_trip(&b, &failure);
	assert_true(b.open);
	assert_int_equal(b.failures, 1);
}

static void each_failure_in_a_row_waits_longer_up_to_a_bound(void **state)
{
	struct insert_breaker b = {.retry_backoff_max = RETRY_MAX_MS};
	int64_t longest = 0;

	(void)state;
	for (int i = 0; i < 20; i++) {
		int64_t before = clock_monotonic_ms(), wait;

		insert_breaker_trip(&b, &failure);
		wait = b.retry_at - before;
		/* Up to half of the wait is random. */
		assert_true(wait >= longest / 4);
		longest = wait > longest ? wait : longest;
		let_pass(&b);
	}
	assert_int_equal(b.failures, 20);
	assert_in_range(longest, RETRY_MAX_MS / 2, RETRY_MAX_MS + 1000);
}

static void nothing_is_tried_before_the_wait_is_over(void **state)
{
	struct insert_breaker b = {.retry_backoff_max = RETRY_MAX_MS};

	(void)state;
	insert_breaker_trip(&b, &failure);
	assert_false(insert_breaker_may_try(&b, b.retry_at - 1));
	assert_true(insert_breaker_may_try(&b, b.retry_at));
}

static void one_is_tried_at_a_time_until_it_takes_long(void **state)
{
	struct insert_breaker b = {.retry_backoff_max = RETRY_MAX_MS};
	int one, other;

	(void)state;
	insert_breaker_trip(&b, &failure);
	insert_breaker_tries(&b, &one, b.retry_at);
	assert_false(insert_breaker_may_try(&b, b.retry_at + TRIAL_MS - 1));
	assert_true(insert_breaker_may_try(&b, b.retry_at + TRIAL_MS));
	/* The end of another insert does not end the trial. */
	insert_breaker_ended(&b, &other);
	assert_false(insert_breaker_may_try(&b, b.retry_at + TRIAL_MS - 1));
	insert_breaker_ended(&b, &one);
	assert_true(insert_breaker_may_try(&b, b.retry_at));
}

static void what_succeeds_closes_it_and_the_count_begins_anew(void **state)
{
	struct insert_breaker b = {.retry_backoff_max = RETRY_MAX_MS};

	(void)state;
	insert_breaker_trip(&b, &failure);
	let_pass(&b);
	insert_breaker_trip(&b, &failure);
	assert_int_equal(b.failures, 2);
	insert_breaker_close(&b);
	assert_false(b.open);
	insert_breaker_trip(&b, &failure);
	assert_int_equal(b.failures, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(failures_that_come_together_count_once),
		cmocka_unit_test(
			each_failure_in_a_row_waits_longer_up_to_a_bound),
		cmocka_unit_test(nothing_is_tried_before_the_wait_is_over),
		cmocka_unit_test(one_is_tried_at_a_time_until_it_takes_long),
		cmocka_unit_test(
			what_succeeds_closes_it_and_the_count_begins_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
