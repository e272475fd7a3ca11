#include "collector/ingest/insert_workers.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/wake.h"

struct insert_workers {
	struct workers *threads;
	pthread_mutex_t lock;
	pthread_cond_t one_ended;
	struct work_queue ended; /* ended, not yet served; under the lock */
	atomic_bool any_ended;
	atomic_bool stopping;
	size_t pending; /* for the polling thread only */
	unsigned count;
	struct sink *sinks[]; /* one per thread */
};

static void run_insert_job(struct work *work, unsigned index)
{
	struct insert_job *job = (struct insert_job *)work;
	struct insert_workers *w = job->workers;

	if (!atomic_load(&w->stopping))
		job->run(job, w->sinks[index]);
	pthread_mutex_lock(&w->lock);
	work_queue_push(&w->ended, work);
	atomic_store(&w->any_ended, true);
	pthread_cond_signal(&w->one_ended);
	pthread_mutex_unlock(&w->lock);
}

static int start_worker_threads(struct insert_workers *w, unsigned threads,
				const struct clickhouse_config *config,
				struct error *err)
{
	for (; w->count < threads; w->count++) {
		w->sinks[w->count] = sink_new(config, err);
		if (!w->sinks[w->count])
			return -1;
	}
	w->threads = workers_new(threads, SIZE_MAX, err);
	return w->threads ? 0 : -1;
}

struct insert_workers *
insert_workers_new(unsigned threads, const struct clickhouse_config *config,
		   struct error *err)
{
	struct insert_workers *w =
		calloc(1, sizeof(*w) + threads * sizeof(struct sink *));

	if (!w) {
		error_set_nomem(err);
		return NULL;
	}
	errno = wake_init(&w->one_ended);
	if (errno) {
		error_set_errno(err, "cannot make a condition");
		free(w);
		return NULL;
	}
	pthread_mutex_init(&w->lock, NULL);
	if (start_worker_threads(w, threads, config, err) == 0)
		return w;
	insert_workers_free(w);
	return NULL;
}

void insert_workers_free(struct insert_workers *w)
{
	if (!w)
		return;
	atomic_store(&w->stopping, true);
	for (unsigned i = 0; i < w->count; i++)
		clickhouse_abort(sink_server(w->sinks[i]));
	/* Jobs that have not begun also pass through `run_insert_job`, which
	 * skips them. */
	workers_free(w->threads);
	insert_workers_serve(w, 0);
	for (unsigned i = 0; i < w->count; i++)
		sink_free(w->sinks[i]);
	pthread_cond_destroy(&w->one_ended);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

void insert_workers_submit(struct insert_workers *w, struct insert_job *job)
{
	w->pending++;
	job->work = (struct work){.run = run_insert_job};
	job->workers = w;
	(void)workers_push(w->threads, &job->work); /* the queue has no bound */
}

static struct work *take_ended(struct insert_workers *w, int timeout_ms)
{
	int64_t until;
	struct work *ended;

	if (timeout_ms <= 0 && !atomic_load(&w->any_ended))
		return NULL;
	until = clock_monotonic_ms() + timeout_ms;
	pthread_mutex_lock(&w->lock);
	while (!w->ended.first && timeout_ms > 0 &&
	       wake_wait(&w->one_ended, &w->lock, until))
		;
	ended = w->ended.first;
	w->ended.first = NULL;
	atomic_store(&w->any_ended, false);
	pthread_mutex_unlock(&w->lock);
	return ended;
}

size_t insert_workers_serve(struct insert_workers *w, int timeout_ms)
{
	struct work *next;
	size_t count = 0;

	for (struct work *work = take_ended(w, timeout_ms); work; work = next) {
		struct insert_job *job = (struct insert_job *)work;

		next = work->next;
		w->pending--;
		count++;
		job->done(job);
	}
	return count;
}

bool insert_workers_ended(struct insert_workers *w)
{
	return atomic_load(&w->any_ended);
}

size_t insert_workers_pending(const struct insert_workers *w)
{
	return w->pending;
}
