#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "common/loop/workers.h"

struct world {
	struct loop *loop;
	struct workers *workers;
	struct error err;
	pthread_t loop_thread;
	pthread_mutex_t gate; /* while it is locked, jobs wait */
	atomic_int runs;
	atomic_uint highest;
	int done, expected;
	bool done_on_loop;
};

static int make_world(void **state)
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

static int drop_world(void **state)
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

static int submit_job(struct world *w)
{
	return workers_submit(w->workers, w->loop, job_run, job_done, w,
			      &w->err);
}

static void done_runs_on_the_loop_that_submitted(void **state)
{
	struct world *w = *state;

	w->expected = 1;
	assert_int_equal(submit_job(w), 0);
	assert_int_equal(loop_run(w->loop, &w->err), 0);
	assert_true(w->done_on_loop);
}

static void every_job_runs_once(void **state)
{
	struct world *w = *state;

	w->expected = 4;
	for (int i = 0; i < 4; i++)
		assert_int_equal(submit_job(w), 0);
	assert_int_equal(loop_run(w->loop, &w->err), 0);
	assert_int_equal(atomic_load(&w->runs), 4);
}

static void worker_numbers_stay_below_the_thread_count(void **state)
{
	struct world *w = *state;

	w->expected = 3;
	for (int i = 0; i < 3; i++)
		assert_int_equal(submit_job(w), 0);
	assert_int_equal(loop_run(w->loop, &w->err), 0);
	assert_in_range(atomic_load(&w->highest), 0, 1);
}

static void a_full_queue_refuses(void **state)
{
	struct world *w = *state;
	int accepted = 0;

	pthread_mutex_lock(&w->gate);
	/* Two jobs run (and wait at the gate), four are queued; the seventh is
	 * refused, however far the threads have come. */
	while (accepted < 7 && submit_job(w) == 0)
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
		submit_job(w);
	workers_free(w->workers);
	w->workers = NULL;
	assert_int_equal(atomic_load(&w->runs), 4);
}

/* --- turns -----------------------------------------------------------------
 */

enum {
	ASKED = 32,
	WAIT_S = 60 /* timeout for events */
};

/* Work that records the order in which it was run. */
struct told {
	struct work work; /* first */
	struct order *order;
};

struct order {
	pthread_mutex_t gate; /* while it is locked, the first job waits */
	pthread_mutex_t lock; /* protects the fields below */
	pthread_cond_t changed;
	uint64_t whose[2 * ASKED + 1];
	size_t begun, count;
	bool released;
};

static void order_init(struct order *o)
{
	memset(o, 0, sizeof(*o));
	pthread_mutex_init(&o->gate, NULL);
	pthread_mutex_init(&o->lock, NULL);
	pthread_cond_init(&o->changed, NULL);
}

static void order_release(struct order *o)
{
	pthread_cond_destroy(&o->changed);
	pthread_mutex_destroy(&o->lock);
	pthread_mutex_destroy(&o->gate);
}

static void record_turn(struct work *work, unsigned index)
{
	struct order *o = ((struct told *)work)->order;

	(void)index;
	pthread_mutex_lock(&o->gate);
	pthread_mutex_unlock(&o->gate);
	pthread_mutex_lock(&o->lock);
	o->whose[o->count++] = work->whose;
	pthread_mutex_unlock(&o->lock);
}

static void push_work(struct workers *w, struct order *o, struct told *told,
		      uint64_t whose)
{
	*told = (struct told){{.run = record_turn, .whose = whose}, o};
	assert_true(workers_push(w, &told->work));
}

static void those_who_wait_take_turns(void **state)
{
	struct told first, one[ASKED], other[3];
	struct order o;
	struct error err;
	struct workers *w = workers_new(1, SIZE_MAX, &err);

	(void)state;
	order_init(&o);
	pthread_mutex_lock(&o.gate);
	push_work(w, &o, &first, 1);
	for (size_t i = 0; i < ASKED; i++)
		push_work(w, &o, &one[i], 1);
	for (size_t i = 0; i < 3; i++)
		push_work(w, &o, &other[i], 2);
	pthread_mutex_unlock(&o.gate);
	workers_free(w);
	assert_int_equal(o.count, 1 + ASKED + 3);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(o.whose[i], i % 2 ? 2 : 1);
	for (size_t i = 6; i < o.count; i++)
		assert_int_equal(o.whose[i], 1);
	order_release(&o);
}

/* Runs until it is released, or until the timeout of a failed test. */
static void run_until_released(struct work *work, unsigned index)
{
	struct order *o = ((struct told *)work)->order;
	struct timespec until;

	(void)index;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += WAIT_S;
	pthread_mutex_lock(&o->lock);
	o->begun++;
	pthread_cond_broadcast(&o->changed);
	while (!o->released &&
	       pthread_cond_timedwait(&o->changed, &o->lock, &until) == 0)
		;
	o->whose[o->count++] = work->whose;
	pthread_mutex_unlock(&o->lock);
}

static void let_go(struct work *work, unsigned index)
{
	struct order *o = ((struct told *)work)->order;

	(void)index;
	pthread_mutex_lock(&o->lock);
	o->whose[o->count++] = work->whose;
	o->released = true;
	pthread_cond_broadcast(&o->changed);
	pthread_mutex_unlock(&o->lock);
}

/* Waits until this many jobs have begun. */
static void await_begun_jobs(struct order *o, size_t count)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += WAIT_S;
	pthread_mutex_lock(&o->lock);
	while (o->begun < count &&
	       pthread_cond_timedwait(&o->changed, &o->lock, &until) == 0)
		;
	assert_int_equal(o->begun, count);
	pthread_mutex_unlock(&o->lock);
}

/* One user may have two of the four threads, so two jobs of another run beside
 * them. */
static void one_who_asks_much_leaves_half_to_others(void **state)
{
	struct told one[5], other[2];
	struct order o;
	struct error err;
	struct workers *w = workers_new(4, SIZE_MAX, &err);

	(void)state;
	order_init(&o);
	for (size_t i = 0; i < 5; i++) {
		one[i] = (struct told){{.run = run_until_released, .whose = 1},
				       &o};
		assert_true(workers_push(w, &one[i].work));
	}
	other[0] = (struct told){{.run = run_until_released, .whose = 2}, &o};
	assert_true(workers_push(w, &other[0].work));
	await_begun_jobs(&o, 3);
	other[1] = (struct told){{.run = let_go, .whose = 2}, &o};
	assert_true(workers_push(w, &other[1].work));
	workers_free(w);
	assert_int_equal(o.count, 7);
	assert_int_equal(o.whose[0], 2);
	order_release(&o);
}

static void what_is_nobodys_may_have_all_threads(void **state)
{
	struct told all[3];
	struct order o;
	struct error err;
	struct workers *w = workers_new(3, SIZE_MAX, &err);

	(void)state;
	order_init(&o);
	for (size_t i = 0; i < 3; i++) {
		all[i] = (struct told){{.run = run_until_released}, &o};
		assert_true(workers_push(w, &all[i].work));
	}
	await_begun_jobs(&o, 3);
	pthread_mutex_lock(&o.lock);
	o.released = true;
	pthread_cond_broadcast(&o.changed);
	pthread_mutex_unlock(&o.lock);
	workers_free(w);
	order_release(&o);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, make_world, drop_world)
	const struct CMUnitTest tests[] = {
		CASE(done_runs_on_the_loop_that_submitted),
		CASE(every_job_runs_once),
		CASE(worker_numbers_stay_below_the_thread_count),
		CASE(a_full_queue_refuses),
		CASE(freeing_finishes_what_is_queued),
		cmocka_unit_test(those_who_wait_take_turns),
		cmocka_unit_test(one_who_asks_much_leaves_half_to_others),
		cmocka_unit_test(what_is_nobodys_may_have_all_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
