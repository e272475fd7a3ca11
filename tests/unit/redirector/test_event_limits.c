#include "tests/unit/unit.h"

#include <pthread.h>
#include <stdatomic.h>

#include "redirector/events/event_limits.h"

#define NOT_FOUND  SHORTLOOP__OUTCOME__OUTCOME_NOT_FOUND
#define EXPIRED	   SHORTLOOP__OUTCOME__OUTCOME_EXPIRED
#define BLOCKED	   SHORTLOOP__OUTCOME__OUTCOME_BLOCKED
#define REDIRECTED SHORTLOOP__OUTCOME__OUTCOME_REDIRECTED
#define HEAD	   SHORTLOOP__OUTCOME__OUTCOME_HEAD

#define THREADS 4
#define TRIES	20000

static struct event_limits *limits_of(int64_t not_found, int64_t expired,
				      int64_t blocked)
{
	const struct redirector_settings s = {
		.event_rate_not_found = not_found,
		.event_rate_expired = expired,
		.event_rate_blocked = blocked,
	};
	struct error err = {0};
	struct event_limits *l = event_limits_new(&s, &err);

	assert_non_null(l);
	return l;
}

/* Returns how many of `tries` at one moment are allowed. */
static int count_allowed(struct event_limits *l, Shortloop__Outcome outcome,
			 int64_t now, int tries)
{
	int count = 0;

	for (int i = 0; i < tries; i++)
		count += event_limits_take(l, outcome, now);
	return count;
}

static void as_many_at_once_as_a_second_has(void **state)
{
	struct event_limits *l = limits_of(50, 0, 0);

	(void)state;
	assert_int_equal(count_allowed(l, NOT_FOUND, 1000000, 1000), 50);
	event_limits_free(l);
}

static void then_as_many_as_time_goes_by(void **state)
{
	struct event_limits *l = limits_of(50, 0, 0);

	(void)state;
	count_allowed(l, NOT_FOUND, 1000000, 1000);
	assert_int_equal(count_allowed(l, NOT_FOUND, 1000019, 1000), 0);
	assert_int_equal(count_allowed(l, NOT_FOUND, 1000020, 1000), 1);
	assert_int_equal(count_allowed(l, NOT_FOUND, 1000220, 1000), 10);
	/* A pause fills the bucket up to its limit only. */
	assert_int_equal(count_allowed(l, NOT_FOUND, 9000000, 1000), 50);
	event_limits_free(l);
}

static void each_outcome_has_its_own(void **state)
{
	struct event_limits *l = limits_of(2, 3, 4);

	(void)state;
	assert_int_equal(count_allowed(l, NOT_FOUND, 5000, 100), 2);
	assert_int_equal(count_allowed(l, EXPIRED, 5000, 100), 3);
	assert_int_equal(count_allowed(l, BLOCKED, 5000, 100), 4);
	event_limits_free(l);
}

static void none_is_sent_at_a_rate_of_0(void **state)
{
	struct event_limits *l = limits_of(0, 0, 0);

	(void)state;
	assert_int_equal(count_allowed(l, NOT_FOUND, 5000, 100), 0);
	assert_int_equal(count_allowed(l, BLOCKED, 500000, 100), 0);
	event_limits_free(l);
}

static void redirects_have_no_limit(void **state)
{
	struct event_limits *l = limits_of(0, 0, 0);

	(void)state;
	assert_int_equal(count_allowed(l, REDIRECTED, 5000, 100000), 100000);
	assert_int_equal(count_allowed(l, HEAD, 5000, 100000), 100000);
	event_limits_free(l);
}

static void the_highest_rate_is_as_good_as_none(void **state)
{
	struct event_limits *l = limits_of(10000000, 0, 0);

	(void)state;
	assert_int_equal(count_allowed(l, NOT_FOUND, 5000, 1000000), 1000000);
	event_limits_free(l);
}

struct crowd {
	struct event_limits *limits;
	_Atomic int taken;
};

static void *count_allowed_in_thread(void *arg)
{
	struct crowd *crowd = arg;

	atomic_fetch_add(&crowd->taken,
			 count_allowed(crowd->limits, EXPIRED, 5000, TRIES));
	return NULL;
}

static void threads_share_one_bucket(void **state)
{
	struct crowd crowd = {.limits = limits_of(0, 30000, 0)};
	pthread_t threads[THREADS];

	(void)state;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL,
						count_allowed_in_thread,
						&crowd),
				 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(crowd.taken, 30000);
	event_limits_free(crowd.limits);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_many_at_once_as_a_second_has),
		cmocka_unit_test(then_as_many_as_time_goes_by),
		cmocka_unit_test(each_outcome_has_its_own),
		cmocka_unit_test(none_is_sent_at_a_rate_of_0),
		cmocka_unit_test(redirects_have_no_limit),
		cmocka_unit_test(the_highest_rate_is_as_good_as_none),
		cmocka_unit_test(threads_share_one_bucket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
