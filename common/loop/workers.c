#include "common/loop/workers.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

struct worker {
	struct workers *owner;
	unsigned index;
	pthread_t thread;
};

struct workers {
	size_t queue_max;
	pthread_mutex_t lock; /* of what follows, up to `ending` */
	pthread_cond_t more;  /* work, or the end */
	struct work_queue queue;
	size_t queued;
	bool ending;
	unsigned count;
	struct worker threads[];
};

/* NULL when there is nothing left and the pool is ending. */
static struct work *next_work(struct workers *w)
{
	struct work *work;

	pthread_mutex_lock(&w->lock);
	while (!w->queued && !w->ending)
		pthread_cond_wait(&w->more, &w->lock);
	work = w->queue.first;
	if (work) {
		w->queue.first = work->next;
		w->queued--;
	}
	pthread_mutex_unlock(&w->lock);
	return work;
}

static void *worker_main(void *arg)
{
	struct worker *worker = arg;
	struct work *work;

	while ((work = next_work(worker->owner)))
		work->run(work, worker->index);
	return NULL;
}

static int start_thread(struct workers *w, struct error *err)
{
	struct worker *worker = &w->threads[w->count];

	*worker = (struct worker){.owner = w, .index = w->count};
	errno = pthread_create(&worker->thread, NULL, worker_main, worker);
	if (errno)
		return error_set_errno(err, "cannot start a worker thread");
	w->count++;
	return 0;
}

struct workers *workers_new(unsigned threads, size_t queue_max,
			    struct error *err)
{
	struct workers *w =
		calloc(1, sizeof(*w) + threads * sizeof(struct worker));

	if (!w) {
		error_set_nomem(err);
		return NULL;
	}
	w->queue_max = queue_max;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->more, NULL);
	while (w->count < threads)
		if (start_thread(w, err) < 0) {
			workers_free(w);
			return NULL;
		}
	return w;
}

void workers_free(struct workers *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->ending = true;
	pthread_cond_broadcast(&w->more);
	pthread_mutex_unlock(&w->lock);
	for (unsigned i = 0; i < w->count; i++)
		pthread_join(w->threads[i].thread, NULL);
	pthread_cond_destroy(&w->more);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

bool workers_push(struct workers *w, struct work *work)
{
	bool fits;

	pthread_mutex_lock(&w->lock);
	fits = w->queued < w->queue_max;
	if (fits) {
		work_queue_push(&w->queue, work);
		w->queued++;
		pthread_cond_signal(&w->more);
	}
	pthread_mutex_unlock(&w->lock);
	return fits;
}

/* --- jobs of loops -------------------------------------------------------- */

struct job {
	struct work work; /* first */
	struct loop *loop;
	void (*run)(void *arg, unsigned index);
	void (*done)(void *arg);
	void *arg;
};

/* A job that has run must be reported: when memory is short, wait for it. */
static void run_job(struct work *work, unsigned index)
{
	const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};
	struct job *job = (struct job *)work;
	struct error err;

	job->run(job->arg, index);
	while (loop_post(job->loop, job->done, job->arg, &err) < 0)
		nanosleep(&pause, NULL);
	free(job);
}

int workers_submit(struct workers *w, struct loop *loop,
		   void (*run)(void *arg, unsigned index),
		   void (*done)(void *arg), void *arg, struct error *err)
{
	struct job *job = malloc(sizeof(*job));

	if (!job)
		return error_set_nomem(err);
	*job = (struct job){{run_job, NULL}, loop, run, done, arg};
	if (workers_push(w, &job->work))
		return 0;
	free(job);
	return error_set_retriable(err, ERROR_FULL,
				   "all workers are busy and %zu jobs are "
				   "waiting",
				   w->queue_max);
}
