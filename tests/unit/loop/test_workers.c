#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/loop/workers.h"

struct world {
	struct loop *loop;
	struct workers *workers;
	struct error err;
	pthread_t loop_thread;
	pthread_mutex_t gate; /* held: jobs wait */
	atomic_int runs;
	atomic_uint highest;
	int done, expected;
	bool done_on_loop;
};

static int setup(void **state)
{
	static struct world w;

	memset(&w, 0, sizeof(w));
	pthread_mutex_init(&w.gate, NULL);
	w.loop_thread = pthread_self();
	w.loop = loop_new(&w.err);
	w.workers = workers_new(2, 4, &w.err);
	*state = &w;
	return w.loop && w.workers ? 0 : -1;
}

static int teardown(void **state)
{
	struct world *w = *state;

	workers_free(w->workers);
	loop_free(w->loop);
	pthread_mutex_destroy(&w->gate);
	return 0;
}

static void job_run(void *arg, unsigned index)
{
	struct world *w = arg;

	pthread_mutex_lock(&w->gate);
	if (index > atomic_load(&w->highest))
		atomic_store(&w->highest, index);
	atomic_fetch_add(&w->runs, 1);
	pthread_mutex_unlock(&w->gate);
}

static void job_done(void *arg)
{
	struct world *w = arg;

	w->done_on_loop = pthread_equal(pthread_self(), w->loop_thread) != 0;
	if (++w->done == w->expected)
		loop_stop(w->loop);
}

static int submit(struct world *w)
{
	return workers_submit(w->workers, w->loop, job_run, job_done, w,
			      &w->err);
}

static void done_runs_on_the_loop_that_submitted(void **state)
{
	struct world *w = *state;

	w->expected = 1;
	assert_int_equal(submit(w), 0);
	assert_int_equal(loop_run(w->loop, &w->err), 0);
	assert_true(w->done_on_loop);
}

static void every_job_runs_once(void **state)
{
	struct world *w = *state;

	w->expected = 4;
	for (int i = 0; i < 4; i++)
		assert_int_equal(submit(w), 0);
	assert_int_equal(loop_run(w->loop, &w->err), 0);
	assert_int_equal(atomic_load(&w->runs), 4);
}

static void worker_numbers_stay_below_the_thread_count(void **state)
{
	struct world *w = *state;

	w->expected = 3;
	for (int i = 0; i < 3; i++)
		assert_int_equal(submit(w), 0);
	assert_int_equal(loop_run(w->loop, &w->err), 0);
	assert_in_range(atomic_load(&w->highest), 0, 1);
}

static void a_full_queue_refuses(void **state)
{
	struct world *w = *state;
	int accepted = 0;

	pthread_mutex_lock(&w->gate);
	/* Two run (and wait at the gate), four queue; the seventh is too many
	 * however far the threads have come. */
	while (accepted < 7 && submit(w) == 0)
		accepted++;
	pthread_mutex_unlock(&w->gate);
	assert_in_range(accepted, 4, 6);
	assert_int_equal(w->err.code, ERROR_FULL);
	assert_true(w->err.retriable);
}

static void freeing_finishes_what_is_queued(void **state)
{
	struct world *w = *state;

	for (int i = 0; i < 4; i++)
		submit(w);
	workers_free(w->workers);
	w->workers = NULL;
	assert_int_equal(atomic_load(&w->runs), 4);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(done_runs_on_the_loop_that_submitted),
		CASE(every_job_runs_once),
		CASE(worker_numbers_stay_below_the_thread_count),
		CASE(a_full_queue_refuses),
		CASE(freeing_finishes_what_is_queued),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
