#include "tests/unit/unit.h"

#include "aggregator/settle/settling.h"
#include "aggregator/settle/superseded.h"
#include "common/clock.h"

/* The server's clock is right at this time; numbers may be ahead of it. */
#define SERVER_MS INT64_C(1790000000000)
#define KEEP_MS	  (15 * CLOCK_MINUTE)
#define LONGEST	  (KEEP_MS + KEEP_MS / 4)
#define AHEAD_MS  (365 * CLOCK_DAY)

static const struct aggregator_settings settings = {.keep_superseded = KEEP_MS};

static struct settling settling_now_at(int64_t server_ms)
{
	return (struct settling){.settings = &settings,
				 .clock = {server_ms, clock_monotonic_ms()}};
}

/* Returns a number of that time (ms) that was picked that long ago. */
static struct picked picked_before(int64_t number_ms, int64_t ago_ms)
{
	return (struct picked){settling_attempt_at(number_ms),
			       clock_monotonic_ms() - ago_ms};
}

static int check_picked_age(const struct settling *s, struct picked picked)
{
	struct error err = {0};
	int status = settling_check_age(s, &picked, &err);

	if (status < 0)
		assert_true(err.code == ERROR_LATE && err.retriable);
	return status;
}

static void
a_number_that_is_ahead_is_late_by_the_time_since_it_was_picked(void **state)
{
	struct settling s = settling_now_at(SERVER_MS);
	int64_t ahead = SERVER_MS + AHEAD_MS;

	(void)state;
	assert_int_equal(settling_longest(&s), LONGEST);
	assert_int_equal(check_picked_age(&s, picked_before(ahead, 0)), 0);
	assert_int_equal(check_picked_age(&s, picked_before(ahead, KEEP_MS)),
			 0);
	assert_int_equal(check_picked_age(&s, picked_before(ahead, LONGEST)),
			 -1);
	assert_int_equal(check_picked_age(&s, picked_before(ahead, AHEAD_MS)),
			 -1);
}

/* This holds while a clock that is read is ahead, and after it went back. */
static void no_clock_of_a_server_makes_it_early_again(void **state)
{
	int64_t ahead = SERVER_MS + AHEAD_MS;

	(void)state;
	for (int64_t at = 0; at <= 2 * AHEAD_MS; at += AHEAD_MS) {
		struct settling s = settling_now_at(at);

		assert_int_equal(
			check_picked_age(&s, picked_before(ahead, LONGEST)),
			-1);
	}
}

static void one_that_is_not_is_late_by_its_own_time(void **state)
{
	struct settling s = settling_now_at(SERVER_MS);

	(void)state;
	/* The number in use was requested some time before. */
	assert_int_equal(
		check_picked_age(&s, picked_before(SERVER_MS - KEEP_MS + 60000,
						   LONGEST - 60000)),
		0);
	assert_int_equal(
		check_picked_age(&s, picked_before(SERVER_MS - KEEP_MS, 0)),
		-1);
}

static void the_server_is_told_the_earlier_of_both_times(void **state)
{
	struct settling s = settling_now_at(SERVER_MS);
	struct picked picked = {settling_attempt_at(SERVER_MS + AHEAD_MS),
				s.clock.monotonic_ms};

	(void)state;
	assert_int_equal(settling_picked_until(&s, &picked),
			 SERVER_MS + LONGEST);
	picked.attempt = settling_attempt_at(SERVER_MS);
	assert_int_equal(settling_picked_until(&s, &picked),
			 SERVER_MS + KEEP_MS);
}

/* No server listens at that address, so an error shows that a query was sent.
 */
static int pick_attempt(const struct progress *last, struct picked *ret)
{
	struct clickhouse_config config = {
		.url = (char[]){"http://127.0.0.1:1"},
		.connect_timeout = 1000,
		.query_timeout = 1000,
		.response_max = 4096,
	};
	struct settling s = settling_now_at(SERVER_MS);
	struct error err = {0};
	int status;

	s.ch = clickhouse_new(&config, &err);
	assert_non_null(s.ch);
	status = settling_pick(&s, last, ret, &err);
	clickhouse_free(s.ch);
	return status;
}

static void what_was_read_long_ago_is_asked_for_anew(void **state)
{
	uint64_t newest = settling_attempt_at(SERVER_MS + AHEAD_MS);
	struct progress last = {.attempt = newest,
				.asked_at = clock_monotonic_ms() - 1000};
	struct picked picked;

	(void)state;
	assert_int_equal(pick_attempt(&last, &picked), 0);
	assert_true(picked.attempt > newest);
	assert_int_equal(picked.since, last.asked_at);
	last.asked_at -= KEEP_MS / 4;
	assert_int_equal(pick_attempt(&last, &picked), -1);
}

static void numbers_below_one_that_is_long_in_use_are_overtaken(void **state)
{
	struct overtaken o = {0};

	(void)state;
	overtaken_see(&o, 100, 1000, LONGEST);
	assert_int_equal(o.before, 0);
	/* A number seen later does not count as seen before. */
	overtaken_see(&o, 200, 1000 + LONGEST - 1, LONGEST);
	assert_int_equal(o.before, 0);
	overtaken_see(&o, 300, 1000 + LONGEST, LONGEST);
	assert_int_equal(o.before, 100);
	overtaken_see(&o, 400, 1000 + 2 * LONGEST - 1, LONGEST);
	assert_int_equal(o.before, 100);
	overtaken_see(&o, 400, 1000 + 2 * LONGEST, LONGEST);
	assert_int_equal(o.before, 300);
}

static void none_is_overtaken_once_the_greatest_is_gone(void **state)
{
	struct overtaken o = {0};

	(void)state;
	overtaken_see(&o, 100, 1000, LONGEST);
	overtaken_see(&o, 200, 1000 + LONGEST, LONGEST);
	assert_int_equal(o.before, 100);
	/* `settled` was restored from a backup: numbers above 50 are picked
	 * again. */
	overtaken_see(&o, 50, 1000 + 3 * LONGEST, LONGEST);
	assert_int_equal(o.before, 0);
	overtaken_see(&o, 60, 1000 + 4 * LONGEST, LONGEST);
	assert_int_equal(o.before, 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_number_that_is_ahead_is_late_by_the_time_since_it_was_picked),
		cmocka_unit_test(no_clock_of_a_server_makes_it_early_again),
		cmocka_unit_test(one_that_is_not_is_late_by_its_own_time),
		cmocka_unit_test(the_server_is_told_the_earlier_of_both_times),
		cmocka_unit_test(what_was_read_long_ago_is_asked_for_anew),
		cmocka_unit_test(
			numbers_below_one_that_is_long_in_use_are_overtaken),
		cmocka_unit_test(none_is_overtaken_once_the_greatest_is_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
