#include "tests/unit/unit.h"

#include "common/clock.h"
#include "common/wake.h"

struct sleeper {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool woken;
};

static int set_up(void **state)
{
	static struct sleeper s;

	s.woken = false;
	pthread_mutex_init(&s.lock, NULL);
	*state = &s;
	return wake_init(&s.wake);
}

static int tear_down(void **state)
{
	struct sleeper *s = *state;

	pthread_cond_destroy(&s->wake);
	pthread_mutex_destroy(&s->lock);
	return 0;
}

static void *wake_it(void *arg)
{
	struct sleeper *s = arg;

	pthread_mutex_lock(&s->lock);
	s->woken = true;
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

static void nobody_wakes_it_until_its_time(void **state)
{
	struct sleeper *s = *state;
	int64_t until = clock_monotonic_ms() + 30;

	pthread_mutex_lock(&s->lock);
	while (wake_wait(&s->wake, &s->lock, until))
		;
	pthread_mutex_unlock(&s->lock);
	assert_true(clock_monotonic_ms() >= until);
}

static void it_is_woken_before_its_time(void **state)
{
	struct sleeper *s = *state;
	int64_t until = clock_monotonic_ms() + 60000;
	pthread_t thread;

	pthread_mutex_lock(&s->lock);
	assert_int_equal(pthread_create(&thread, NULL, wake_it, s), 0);
	while (!s->woken && wake_wait(&s->wake, &s->lock, until))
		;
	pthread_mutex_unlock(&s->lock);
	pthread_join(thread, NULL);
	assert_true(s->woken);
	assert_true(clock_monotonic_ms() < until);
}

static void a_time_that_has_passed_is_not_waited_for(void **state)
{
	struct sleeper *s = *state;

	pthread_mutex_lock(&s->lock);
	assert_false(wake_wait(&s->wake, &s->lock, clock_monotonic_ms() - 1));
	pthread_mutex_unlock(&s->lock);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(nobody_wakes_it_until_its_time),
		CASE(it_is_woken_before_its_time),
		CASE(a_time_that_has_passed_is_not_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
