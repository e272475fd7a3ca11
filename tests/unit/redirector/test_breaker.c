/* When queries to a server are allowed, and how many at once; the test sets the
 * clock. */
#include "tests/unit/unit.h"

#include "redirector/lookup/breaker.h"

#define FAILURES 3
#define WAIT_MAX 1000
#define FIRST	 2
#define SHARE	 30
/* The random part is 0, so every wait is the longest possible. */
#define LONGEST 0

struct world {
	struct breaker b;
	int64_t now;
};

static int set_up_breaker(void **state)
{
	static struct world w;

	w.now = 1000000;
	breaker_init(&w.b,
		     &(struct breaker_rules){FAILURES, WAIT_MAX, FIRST, SHARE},
		     w.now);
	*state = &w;
	return 0;
}

static enum breaker_word try_lookup(struct world *w)
{
	enum breaker_word word = breaker_may_ask(&w->b, w->now);

	if (word == BREAKER_ASK)
		breaker_begin(&w->b);
	return word;
}

static void end_failed_lookup(struct world *w)
{
	breaker_failed(&w->b, w->now, LONGEST);
	breaker_end(&w->b);
}

static void end_answered_lookup(struct world *w)
{
	breaker_succeeded(&w->b, w->now);
	breaker_end(&w->b);
}

static void open_it(struct world *w)
{
	for (int i = 0; i < FAILURES; i++) {
		assert_int_equal(try_lookup(w), BREAKER_ASK);
		end_failed_lookup(w);
	}
	assert_int_equal(w->b.state, BREAKER_OPEN);
}

/* Returns how many queries may be under way at once. */
static unsigned count_allowed_lookups(struct world *w)
{
	unsigned n = 0;

	while (n < 5000 && try_lookup(w) == BREAKER_ASK)
		n++;
	for (unsigned i = 0; i < n; i++)
		breaker_end(&w->b);
	return n;
}

static void failures_in_a_row_open_it(void **state)
{
	struct world *w = *state;

	for (int i = 0; i < FAILURES - 1; i++) {
		assert_int_equal(try_lookup(w), BREAKER_ASK);
		end_failed_lookup(w);
	}
	assert_int_equal(try_lookup(w), BREAKER_ASK);
	end_answered_lookup(w); /* the count starts again */
	open_it(w);
	assert_int_equal(try_lookup(w), BREAKER_REFUSE);
}

static void an_open_one_lets_one_try_after_its_wait(void **state)
{
	struct world *w = *state;

	open_it(w);
	w->now += BREAKER_WAIT_MIN - 1;
	assert_int_equal(breaker_wait_left(&w->b, w->now), 1);
	assert_int_equal(try_lookup(w), BREAKER_REFUSE);
	w->now += 1;
	assert_int_equal(breaker_wait_left(&w->b, w->now), 0);
	assert_int_equal(try_lookup(w), BREAKER_ASK);
	assert_int_equal(w->b.state, BREAKER_HALF_OPEN);
	assert_int_equal(try_lookup(w), BREAKER_REFUSE);
	end_answered_lookup(w);
	assert_int_equal(w->b.state, BREAKER_CLOSED);
	assert_int_equal(try_lookup(w), BREAKER_ASK);
}

static void each_try_that_fails_doubles_the_wait_up_to_its_bound(void **state)
{
	struct world *w = *state;
	int64_t wait = BREAKER_WAIT_MIN;

	open_it(w);
	for (int i = 0; i < 8; i++) {
		assert_int_equal(breaker_wait_left(&w->b, w->now),
				 wait < WAIT_MAX ? wait : WAIT_MAX);
		w->now += wait;
		assert_int_equal(try_lookup(w), BREAKER_ASK);
		end_failed_lookup(w);
		assert_int_equal(w->b.state, BREAKER_OPEN);
		wait *= 2;
	}
	w->now += WAIT_MAX;
	assert_int_equal(try_lookup(w), BREAKER_ASK);
	end_answered_lookup(w);
	open_it(w); /* begins with the shortest wait */
	assert_int_equal(breaker_wait_left(&w->b, w->now), BREAKER_WAIT_MIN);
}

static void those_that_fail_together_count_once(void **state)
{
	struct world *w = *state;

	w->b.limit = 0;
	for (int i = 0; i < 100; i++)
		assert_int_equal(try_lookup(w), BREAKER_ASK);
	for (int i = 0; i < 100; i++)
		end_failed_lookup(w);
	assert_int_equal(w->b.state, BREAKER_OPEN);
	assert_int_equal(breaker_wait_left(&w->b, w->now), BREAKER_WAIT_MIN);
	assert_int_equal(w->b.under_way, 0);
}

static void one_that_is_late_counts_before_its_end(void **state)
{
	struct world *w = *state;

	open_it(w);
	w->now += BREAKER_WAIT_MIN;
	assert_int_equal(try_lookup(w), BREAKER_ASK);
	breaker_failed(&w->b, w->now,
		       LONGEST); /* this query is still under way */
	w->now += 2 * BREAKER_WAIT_MIN;
	assert_int_equal(try_lookup(w), BREAKER_ASK); /* the next one */
	assert_int_equal(try_lookup(w), BREAKER_REFUSE);
	breaker_end(&w->b);
	assert_int_equal(try_lookup(w), BREAKER_REFUSE);
}

static void an_answer_that_comes_in_spite_of_it_closes_it(void **state)
{
	struct world *w = *state;

	assert_int_equal(try_lookup(w), BREAKER_ASK); /* this query is slow */
	open_it(w);
	end_answered_lookup(w);
	assert_int_equal(w->b.state, BREAKER_CLOSED);
}

static void a_new_connection_is_tried_at_once(void **state)
{
	struct world *w = *state;

	open_it(w);
	breaker_connected(&w->b, w->now);
	assert_int_equal(w->b.state, BREAKER_HALF_OPEN);
	assert_int_equal(try_lookup(w), BREAKER_ASK);
	assert_int_equal(try_lookup(w), BREAKER_REFUSE);
}

/* Sends as many queries as are allowed; all succeed one step later. */
static void round_trip(struct world *w)
{
	unsigned n = 0;

	while (n < 5000 && try_lookup(w) == BREAKER_ASK)
		n++;
	w->now += BREAKER_STEP_MS;
	while (n--)
		end_answered_lookup(w);
}

static void after_a_return_more_and_more_may_ask_at_once(void **state)
{
	struct world *w = *state;
	unsigned may = FIRST;

	open_it(w);
	w->now += BREAKER_WAIT_MIN;
	assert_int_equal(try_lookup(w), BREAKER_ASK);
	end_answered_lookup(w);
	for (; may <= BREAKER_LIMIT_MAX; may *= 2) {
		assert_int_equal(count_allowed_lookups(w), may);
		round_trip(w);
	}
	assert_int_equal(count_allowed_lookups(w), 5000);
	breaker_connected(&w->b, w->now);
	assert_int_equal(count_allowed_lookups(w), FIRST);
}

static void who_finds_no_room_waits_and_is_not_refused(void **state)
{
	struct world *w = *state;

	for (int i = 0; i < FIRST; i++)
		assert_int_equal(try_lookup(w), BREAKER_ASK);
	assert_int_equal(try_lookup(w), BREAKER_WAIT);
	end_answered_lookup(w);
	assert_int_equal(try_lookup(w), BREAKER_ASK);
}

static void the_number_doubles_no_faster_than_by_steps(void **state)
{
	struct world *w = *state;

	for (int i = 0; i < 100; i++) {
		assert_int_equal(try_lookup(w), BREAKER_ASK);
		end_answered_lookup(w);
	}
	assert_int_equal(count_allowed_lookups(w), FIRST);
	w->now += BREAKER_STEP_MS;
	assert_int_equal(try_lookup(w), BREAKER_ASK);
	end_answered_lookup(w);
	assert_int_equal(count_allowed_lookups(w), 2 * FIRST);
}

static void a_clock_that_goes_back_costs_one_wait_at_most(void **state)
{
	struct world *w = *state;

	open_it(w);
	w->now -= 500000;
	assert_int_equal(try_lookup(w), BREAKER_REFUSE);
	assert_int_equal(breaker_wait_left(&w->b, w->now), BREAKER_WAIT_MIN);
	w->now += BREAKER_WAIT_MIN;
	assert_int_equal(try_lookup(w), BREAKER_ASK);
	end_answered_lookup(w);
	/* A clock that goes back does not delay the growth of the limit either.
	 */
	w->now -= 500000;
	round_trip(w);
	round_trip(w);
	assert_true(count_allowed_lookups(w) > FIRST);
}

/* --- a share of failures ---------------------------------------------------
 */

/* Makes look-ups `ms` apart of which every `nth` fails, up to `most` or until
 * the breaker opens.  Returns how many there were. */
static unsigned run_mixed_lookups(struct world *w, unsigned most, unsigned nth,
				  int64_t ms)
{
	unsigned n = 0;

	while (n < most && try_lookup(w) == BREAKER_ASK) {
		n++;
		w->now += ms;
		if (n % nth)
			end_answered_lookup(w);
		else
			end_failed_lookup(w);
	}
	return n;
}

static void
a_third_of_failures_opens_it_though_none_follow_each_other(void **state)
{
	struct world *w = *state;
	unsigned n = run_mixed_lookups(w, 100000, 3, 5);

	assert_int_equal(w->b.state, BREAKER_OPEN);
	/* The breaker opens at the next failure after a second. */
	assert_true(n >= 200 && n <= 203);
	assert_int_equal(try_lookup(w), BREAKER_REFUSE);
	assert_int_equal(breaker_wait_left(&w->b, w->now), BREAKER_WAIT_MIN);
}

static void a_smaller_share_never_opens_it(void **state)
{
	struct world *w = *state;

	assert_int_equal(run_mixed_lookups(w, 100000, 4, 5), 100000);
	assert_int_equal(w->b.state, BREAKER_CLOSED);
}

static void a_share_of_few_look_ups_says_nothing(void **state)
{
	struct world *w = *state;

	assert_int_equal(run_mixed_lookups(w, 10000, 3, 150), 10000);
	run_mixed_lookups(w, 10000, 3, 50);
	assert_int_equal(w->b.state, BREAKER_OPEN);
}

static void a_burst_of_failures_says_nothing_within_its_second(void **state)
{
	struct world *w = *state;

	assert_int_equal(run_mixed_lookups(w, 900, 2, 1), 900);
	assert_int_equal(w->b.state, BREAKER_CLOSED);
}

/* 450 of 1,000 look-ups failed; the window includes them first, then not any
 * more. */
static void what_is_older_than_the_window_does_not_count(void **state)
{
	struct world *w = *state;

	run_mixed_lookups(w, 900, 2, 1);
	run_mixed_lookups(w, 100, 1000, BREAKER_WINDOW_MS / 100);
	w->now += 1000;
	assert_int_equal(run_mixed_lookups(w, 1, 1, 0), 1);
	assert_int_equal(w->b.window.all.failed, 1);
	assert_int_equal(w->b.state, BREAKER_CLOSED);

	/* The window moves in parts, and is empty after a pause. */
	w->now += BREAKER_WINDOW_MS;
	assert_int_equal(run_mixed_lookups(w, 1, 2, 0), 1);
	assert_int_equal(w->b.window.all.ended, 1);
}

static void answers_of_those_under_way_do_not_close_it_then(void **state)
{
	struct world *w = *state;

	assert_int_equal(try_lookup(w), BREAKER_ASK); /* this query is slow */
	run_mixed_lookups(w, 100000, 3, 5);
	end_answered_lookup(w);
	assert_int_equal(w->b.state, BREAKER_OPEN);
	w->now += BREAKER_WAIT_MIN;
	assert_int_equal(try_lookup(w), BREAKER_ASK);
	end_answered_lookup(w);
	assert_int_equal(w->b.state, BREAKER_CLOSED);
	/* Former failures no longer count. */
	assert_int_equal(try_lookup(w), BREAKER_ASK);
	end_failed_lookup(w);
	assert_int_equal(w->b.state, BREAKER_CLOSED);
}

/* Opens the breaker once more; returns for how long. */
static int64_t reopen_breaker(struct world *w)
{
	int64_t wait, begun = w->now;

	run_mixed_lookups(w, 100000, 3, 5);
	assert_int_equal(w->b.state, BREAKER_OPEN);
	wait = breaker_wait_left(&w->b, w->now);
	assert_true(wait <= w->now - begun);
	w->now += wait;
	assert_int_equal(try_lookup(w), BREAKER_ASK);
	end_answered_lookup(w);
	return wait;
}

static void each_time_is_longer_and_never_longer_than_it_was_asked(void **state)
{
	struct world *w = *state;
	int64_t wait = BREAKER_WAIT_MIN;

	w->b.rules.wait_max = 60000;
	for (int i = 0; i < 4; i++, wait *= 2)
		assert_int_equal(reopen_breaker(w), wait);
	for (int i = 0; i < 4; i++)
		assert_in_range(reopen_breaker(w), 1000, 1020);
	/* After some time without failures, the waits begin with the shortest
	 * again. */
	run_mixed_lookups(w, 3000, 10, 5);
	assert_int_equal(reopen_breaker(w), BREAKER_WAIT_MIN);
}

static void without_a_share_only_a_run_opens_it(void **state)
{
	struct world *w = *state;

	w->b.rules.share = 0;
	assert_int_equal(run_mixed_lookups(w, 9999, 2, 5), 9999);
	open_it(w);
}

static void a_clock_that_goes_back_leaves_the_window_right(void **state)
{
	struct world *w = *state;

	run_mixed_lookups(w, 100, 3, 5);
	w->now -= 500000;
	assert_true(run_mixed_lookups(w, 100000, 3, 5) < 1000);
	assert_int_equal(w->b.state, BREAKER_OPEN);
}

static void the_states_have_names(void **state)
{
	(void)state;
	assert_string_equal(breaker_state_name(BREAKER_CLOSED), "closed");
	assert_string_equal(breaker_state_name(BREAKER_OPEN), "open");
	assert_string_equal(breaker_state_name(BREAKER_HALF_OPEN), "half-open");
}

#define TEST(f) cmocka_unit_test_setup(f, set_up_breaker)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(failures_in_a_row_open_it),
		TEST(an_open_one_lets_one_try_after_its_wait),
		TEST(each_try_that_fails_doubles_the_wait_up_to_its_bound),
		TEST(those_that_fail_together_count_once),
		TEST(one_that_is_late_counts_before_its_end),
		TEST(an_answer_that_comes_in_spite_of_it_closes_it),
		TEST(a_new_connection_is_tried_at_once),
		TEST(after_a_return_more_and_more_may_ask_at_once),
		TEST(who_finds_no_room_waits_and_is_not_refused),
		TEST(the_number_doubles_no_faster_than_by_steps),
		TEST(a_clock_that_goes_back_costs_one_wait_at_most),
		TEST(a_third_of_failures_opens_it_though_none_follow_each_other),
		TEST(a_smaller_share_never_opens_it),
		TEST(a_share_of_few_look_ups_says_nothing),
		TEST(a_burst_of_failures_says_nothing_within_its_second),
		TEST(what_is_older_than_the_window_does_not_count),
		TEST(answers_of_those_under_way_do_not_close_it_then),
		TEST(each_time_is_longer_and_never_longer_than_it_was_asked),
		TEST(without_a_share_only_a_run_opens_it),
		TEST(a_clock_that_goes_back_leaves_the_window_right),
		TEST(the_states_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
