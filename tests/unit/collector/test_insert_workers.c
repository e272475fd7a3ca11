#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "collector/ingest/insert_workers.h"
#include "common/clock.h"

enum {
	JOBS = 2000,
	PATIENCE_MS = 60000
};

/* No server listens there; the jobs send no queries. */
static char url[] = "http://127.0.0.1:1";
static char database[] = "default";
static const struct clickhouse_config nowhere = {
	.url = url,
	.database = database,
	.connect_timeout = 1000,
	.query_timeout = 1000,
	.response_max = 1 << 20,
};

struct job {
	struct insert_job job; /* first */
	atomic_int *gate;      /* the job waits until this is not 0; or NULL */
	int *count;
	int ran;
	int done;
};

static void run_job(struct insert_job *job, struct sink *sink)
{
	struct job *j = (struct job *)job;

	assert_non_null(sink);
	while (j->gate && !atomic_load(j->gate))
		usleep(1000);
	j->ran++;
}

static void count_done_job(struct insert_job *job)
{
	struct job *j = (struct job *)job;

	j->done++;
	++*j->count;
}

static struct job make_job(atomic_int *gate, int *count)
{
	return (struct job){.job = {.run = run_job, .done = count_done_job},
			    .gate = gate,
			    .count = count};
}

static struct insert_workers *make_workers(unsigned threads)
{
	struct error err = {0};
	struct insert_workers *c = insert_workers_new(threads, &nowhere, &err);

	assert_non_null(c);
	return c;
}

static void every_job_runs_once_and_is_told_of_once(void **state)
{
	static struct job jobs[JOBS];
	int count = 0;
	struct insert_workers *c = make_workers(4);
	int64_t until = clock_monotonic_ms() + PATIENCE_MS;

	(void)state;
	for (int i = 0; i < JOBS; i++) {
		jobs[i] = make_job(NULL, &count);
		insert_workers_submit(c, &jobs[i].job);
	}
	while (insert_workers_pending(c) && clock_monotonic_ms() < until)
		insert_workers_serve(c, 100);
	assert_int_equal(count, JOBS);
	for (int i = 0; i < JOBS; i++)
		assert_true(jobs[i].ran == 1 && jobs[i].done == 1);
	assert_false(insert_workers_ended(c));
	assert_int_equal(insert_workers_serve(c, 0), 0);
	insert_workers_free(c);
}

static void one_that_hangs_holds_up_no_other(void **state)
{
	atomic_int gate = 0;
	int count = 0;
	struct job slow = make_job(&gate, &count),
		   quick = make_job(NULL, &count);
	struct insert_workers *c = make_workers(2);

	(void)state;
	insert_workers_submit(c, &slow.job);
	insert_workers_submit(c, &quick.job);
	while (!quick.done)
		insert_workers_serve(c, 100);
	assert_int_equal(slow.done, 0);
	assert_int_equal(insert_workers_pending(c), 1);
	atomic_store(&gate, 1);
	while (!slow.done)
		insert_workers_serve(c, 100);
	insert_workers_free(c);
}

static void at_the_end_each_is_told_of_whether_it_ran_or_not(void **state)
{
	atomic_int gate = 1;
	struct job jobs[50];
	int count = 0;
	struct insert_workers *c = make_workers(1);

	(void)state;
	for (int i = 0; i < 50; i++) {
		jobs[i] = make_job(&gate, &count);
		insert_workers_submit(c, &jobs[i].job);
	}
	insert_workers_free(c);
	assert_int_equal(count, 50);
	for (int i = 0; i < 50; i++)
		assert_true(jobs[i].done == 1 && jobs[i].ran <= 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_job_runs_once_and_is_told_of_once),
		cmocka_unit_test(one_that_hangs_holds_up_no_other),
		cmocka_unit_test(
			at_the_end_each_is_told_of_whether_it_ran_or_not),
	};

	return cmocka_run_group_tests_name("insert_workers", tests, NULL, NULL);
}
