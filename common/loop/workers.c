#include "common/loop/workers.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

struct job {
	struct loop *loop;
	void (*run)(void *arg, unsigned index);
	void (*done)(void *arg);
	void *arg;
};

struct worker {
	struct workers *owner;
	unsigned index;
	pthread_t thread;
};

struct workers {
	pthread_mutex_t lock;
	pthread_cond_t work;
	struct job *queue; /* a ring of queue_max */
	size_t queue_max, head, queued;
	bool ending;
	struct worker *threads;
	unsigned count;
};

/* False when there is nothing left and the pool is ending. */
static bool next_job(struct workers *w, struct job *ret_job)
{
	bool found = false;

	pthread_mutex_lock(&w->lock);
	while (w->queued == 0 && !w->ending)
		pthread_cond_wait(&w->work, &w->lock);
	if (w->queued > 0) {
		*ret_job = w->queue[w->head];
		w->head = (w->head + 1) % w->queue_max;
		w->queued--;
		found = true;
	}
	pthread_mutex_unlock(&w->lock);
	return found;
}

/* A job that has run must be reported: when memory is short, wait for it. */
static void report_done(const struct job *job)
{
	const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};
	struct error err;

	while (loop_post(job->loop, job->done, job->arg, &err) < 0)
		nanosleep(&pause, NULL);
}

static void *worker_main(void *arg)
{
	struct worker *worker = arg;
	struct job job;

	while (next_job(worker->owner, &job)) {
		job.run(job.arg, worker->index);
		report_done(&job);
	}
	return NULL;
}

static int start_thread(struct workers *w, struct error *err)
{
	struct worker *worker = &w->threads[w->count];
	int sys;

	*worker = (struct worker){.owner = w, .index = w->count};
	sys = pthread_create(&worker->thread, NULL, worker_main, worker);
	if (sys)
		return error_set(err, ERROR_SYSTEM,
				 "cannot start worker thread %u (error %d)",
				 w->count, sys);
	w->count++;
	return 0;
}

struct workers *workers_new(unsigned threads, size_t queue_max,
			    struct error *err)
{
	struct workers *w = calloc(1, sizeof(*w));

	if (!w) {
		error_set_nomem(err);
		return NULL;
	}
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->work, NULL);
	w->queue_max = queue_max > 0 ? queue_max : 1;
	w->queue = calloc(w->queue_max, sizeof(*w->queue));
	w->threads = calloc(threads > 0 ? threads : 1, sizeof(*w->threads));
	if (!w->queue || !w->threads) {
		error_set_nomem(err);
		goto fail;
	}
	do {
		if (start_thread(w, err) < 0)
			goto fail;
	} while (w->count < threads);
	return w;
fail:
	workers_free(w);
	return NULL;
}

void workers_free(struct workers *w)
{
	unsigned i;

	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->ending = true;
	pthread_cond_broadcast(&w->work);
	pthread_mutex_unlock(&w->lock);
	for (i = 0; i < w->count; i++)
		pthread_join(w->threads[i].thread, NULL);
	pthread_cond_destroy(&w->work);
	pthread_mutex_destroy(&w->lock);
	free(w->queue);
	free(w->threads);
	free(w);
}

int workers_submit(struct workers *w, struct loop *loop,
		   void (*run)(void *arg, unsigned index),
		   void (*done)(void *arg), void *arg, struct error *err)
{
	bool full;

	pthread_mutex_lock(&w->lock);
	full = w->queued == w->queue_max;
	if (!full) {
		w->queue[(w->head + w->queued++) % w->queue_max] =
			(struct job){loop, run, done, arg};
		pthread_cond_signal(&w->work);
	}
	pthread_mutex_unlock(&w->lock);
	if (full)
		return error_set_retriable(err, ERROR_FULL,
					   "all workers are busy and %zu jobs "
					   "are waiting",
					   w->queue_max);
	return 0;
}
