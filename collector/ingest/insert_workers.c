#include "collector/ingest/insert_workers.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/wake.h"

struct queue {
	struct insert_job *first, **last;
};

struct worker {
	struct insert_workers *all;
	struct sink *sink;
	pthread_t thread;
	bool running;
};

struct insert_workers {
	pthread_mutex_t lock;
	pthread_cond_t more; /* a job, or the end */
	pthread_cond_t less; /* a job has ended */
	struct queue waiting, ended;
	atomic_bool any_ended;
	size_t pending; /* the polling thread's own */
	bool stopping;
	unsigned count;
	struct worker threads[];
};

static void push(struct queue *q, struct insert_job *job)
{
	job->next = NULL;
	*q->last = job;
	q->last = &job->next;
}

static struct insert_job *pop(struct queue *q)
{
	struct insert_job *job = q->first;

	if (job) {
		q->first = job->next;
		if (!q->first)
			q->last = &q->first;
	}
	return job;
}

static void *work(void *arg)
{
	struct worker *worker = arg;
	struct insert_workers *w = worker->all;
	struct insert_job *job;

	pthread_mutex_lock(&w->lock);
	for (;;) {
		while (!w->stopping && !w->waiting.first)
			pthread_cond_wait(&w->more, &w->lock);
		if (w->stopping)
			break;
		job = pop(&w->waiting);
		pthread_mutex_unlock(&w->lock);
		job->run(job, worker->sink);
		pthread_mutex_lock(&w->lock);
		push(&w->ended, job);
		atomic_store(&w->any_ended, true);
		pthread_cond_signal(&w->less);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

static int start(struct worker *worker, struct insert_workers *w,
		 const struct clickhouse_config *config, struct error *err)
{
	worker->all = w;
	worker->sink = sink_new(config, err);
	if (!worker->sink)
		return -1;
	errno = pthread_create(&worker->thread, NULL, work, worker);
	if (errno)
		return error_set_errno(err, "cannot start a thread");
	worker->running = true;
	return 0;
}

static int init(struct insert_workers *w, struct error *err)
{
	w->waiting.last = &w->waiting.first;
	w->ended.last = &w->ended.first;
	errno = wake_init(&w->less);
	if (errno)
		return error_set_errno(err, "cannot make a condition");
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->more, NULL);
	return 0;
}

struct insert_workers *
insert_workers_new(unsigned threads, const struct clickhouse_config *config,
		   struct error *err)
{
	struct insert_workers *w =
		calloc(1, sizeof(*w) + threads * sizeof(struct worker));

	if (!w) {
		error_set_nomem(err);
		return NULL;
	}
	if (init(w, err) < 0) {
		free(w);
		return NULL;
	}
	for (; w->count < threads; w->count++)
		if (start(&w->threads[w->count], w, config, err) < 0) {
			sink_free(w->threads[w->count].sink);
			insert_workers_free(w);
			return NULL;
		}
	return w;
}

void insert_workers_free(struct insert_workers *w)
{
	struct insert_job *job;

	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->stopping = true;
	pthread_cond_broadcast(&w->more);
	pthread_mutex_unlock(&w->lock);
	for (unsigned i = 0; i < w->count; i++) {
		clickhouse_abort(sink_server(w->threads[i].sink));
		if (w->threads[i].running)
			pthread_join(w->threads[i].thread, NULL);
		sink_free(w->threads[i].sink);
	}
	while ((job = pop(&w->ended)) || (job = pop(&w->waiting)))
		job->done(job);
	pthread_cond_destroy(&w->more);
	pthread_cond_destroy(&w->less);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

void insert_workers_submit(struct insert_workers *w, struct insert_job *job)
{
	w->pending++;
	pthread_mutex_lock(&w->lock);
	push(&w->waiting, job);
	pthread_cond_signal(&w->more);
	pthread_mutex_unlock(&w->lock);
}

static struct insert_job *take_ended(struct insert_workers *w, int timeout_ms)
{
	int64_t until;
	struct insert_job *jobs;

	if (timeout_ms <= 0 && !atomic_load(&w->any_ended))
		return NULL;
	until = clock_monotonic_ms() + timeout_ms;
	pthread_mutex_lock(&w->lock);
	while (!w->ended.first && timeout_ms > 0)
		if (!wake_wait(&w->less, &w->lock, until))
			break;
	jobs = w->ended.first;
	w->ended.first = NULL;
	w->ended.last = &w->ended.first;
	atomic_store(&w->any_ended, false);
	pthread_mutex_unlock(&w->lock);
	return jobs;
}

size_t insert_workers_serve(struct insert_workers *w, int timeout_ms)
{
	struct insert_job *next;
	size_t count = 0;

	for (struct insert_job *job = take_ended(w, timeout_ms); job;
	     job = next) {
		next = job->next;
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
