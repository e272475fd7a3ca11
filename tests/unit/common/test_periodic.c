#include "tests/unit/unit.h"

#include <stdatomic.h>
#include <time.h>

#include "common/periodic.h"

struct work {
	atomic_int calls;
	atomic_int hold;     /* the call lasts while this is 1 */
	int64_t again;	     /* its return value */
	atomic_bool stopped; /* the stop was requested during a call */
};

static void sleep_one_ms(void)
{
	nanosleep(&(struct timespec){0, 1000000}, NULL);
}

static int64_t work_while_held(struct periodic *self, void *arg)
{
	struct work *w = arg;

	(void)self;
	atomic_fetch_add(&w->calls, 1);
	while (atomic_load(&w->hold))
		sleep_one_ms();
	return w->again;
}

static void wait_for_calls(struct work *w, int count)
{
	while (atomic_load(&w->calls) < count)
		sleep_one_ms();
}

static struct periodic *start_periodic_calls(periodic_fn *fn, struct work *w)
{
	struct error err;
	struct periodic *p = periodic_new(fn, w, &err);

	assert_non_null(p);
	assert_int_equal(periodic_start(p, &err), 0);
	return p;
}

static void it_is_called_at_once_and_again_and_again(void **state)
{
	struct work w = {.again = 1};
	struct periodic *p = start_periodic_calls(work_while_held, &w);

	(void)state;
	wait_for_calls(&w, 20);
	periodic_free(p);
}

static void one_that_rests_for_ever_is_woken(void **state)
{
	struct work w = {.again = PERIODIC_NEVER};
	struct periodic *p = start_periodic_calls(work_while_held, &w);

	(void)state;
	for (int calls = 1; calls <= 5; calls++) {
		wait_for_calls(&w, calls);
		periodic_wake(p);
	}
	wait_for_calls(&w, 6);
	periodic_free(p);
	assert_int_equal(atomic_load(&w.calls), 6);
}

static void asked_while_it_works_it_works_once_more(void **state)
{
	struct work w = {.again = PERIODIC_NEVER, .hold = 1};
	struct periodic *p = start_periodic_calls(work_while_held, &w);

	(void)state;
	wait_for_calls(&w, 1);
	for (int i = 0; i < 10; i++)
		periodic_wake(p);
	atomic_store(&w.hold, 0);
	wait_for_calls(&w, 2);
	periodic_free(p);
	assert_int_equal(atomic_load(&w.calls), 2);
}

static int64_t long_work(struct periodic *self, void *arg)
{
	struct work *w = arg;

	atomic_fetch_add(&w->calls, 1);
	atomic_store(&w->stopped, periodic_should_stop(self, 600000));
	return PERIODIC_NEVER;
}

static void a_long_call_learns_that_it_is_to_end(void **state)
{
	struct work w = {0};
	struct periodic *p = start_periodic_calls(long_work, &w);

	(void)state;
	wait_for_calls(&w, 1);
	periodic_free(p);
	assert_true(atomic_load(&w.stopped));
}

static void one_that_has_stopped_does_nothing_more(void **state)
{
	struct work w = {.again = PERIODIC_NEVER};
	struct periodic *p = start_periodic_calls(work_while_held, &w);

	(void)state;
	wait_for_calls(&w, 1);
	periodic_stop(p);
	periodic_wake(p);
	periodic_stop(p);
	periodic_free(p);
	assert_int_equal(atomic_load(&w.calls), 1);
}

static void one_that_is_asked_to_end_is_not_waited_for(void **state)
{
	struct work w = {.again = 0, .hold = 1};
	struct periodic *p = start_periodic_calls(work_while_held, &w);

	(void)state;
	wait_for_calls(&w, 1);
	periodic_end(p);
	periodic_wake(p);
	atomic_store(&w.hold, 0);
	periodic_free(p);
	assert_int_equal(atomic_load(&w.calls), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_called_at_once_and_again_and_again),
		cmocka_unit_test(one_that_rests_for_ever_is_woken),
		cmocka_unit_test(asked_while_it_works_it_works_once_more),
		cmocka_unit_test(a_long_call_learns_that_it_is_to_end),
		cmocka_unit_test(one_that_has_stopped_does_nothing_more),
		cmocka_unit_test(one_that_is_asked_to_end_is_not_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
