#include "common/loop/workers.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

struct worker_thread {
	struct workers *owner;
	unsigned index;
	pthread_t thread;
	/* Guarded by the lock: whether it runs work, and the owner of that. */
	bool busy;
	uint64_t whose;
};

struct workers {
	size_t queue_max;
	unsigned size;	      /* number of threads */
	pthread_mutex_t lock; /* guards what follows, up to `ending` */
	pthread_cond_t more;  /* signals work, or the end */
	/* The first work of each owner that has any, in the order of their
	 * turns; owners are few.  Each links to the owner's further work. */
	struct work *first_turn, *last_turn;
	size_t queued;
	bool ending;
	unsigned count;
	struct worker_thread threads[];
};

/* --- turns, called with the lock held ------------------------------------- */

static void add_turn(struct workers *w, struct work *first)
{
	first->next_turn = NULL;
	if (w->last_turn)
		w->last_turn->next_turn = first;
	else
		w->first_turn = first;
	w->last_turn = first;
}

static void enqueue_work(struct workers *w, struct work *work)
{
	struct work *first = w->first_turn;

	while (first && first->whose != work->whose)
		first = first->next_turn;
	work->next = NULL;
	w->queued++;
	if (first) {
		first->last->next = work;
		first->last = work;
		return;
	}
	work->last = work;
	add_turn(w, work);
}

static unsigned count_running_work(const struct workers *w, uint64_t whose)
{
	unsigned n = 0;

	for (unsigned i = 0; i < w->size; i++)
		n += w->threads[i].busy && w->threads[i].whose == whose;
	return n;
}

/* Returns the work to do next, and the one before it in *ret_before.  It is of
 * the owner with the least running work; the work that the thread has just done
 * still counts, so that its owner does not get another turn before owners that
 * came meanwhile. */
static struct work *choose_work(const struct worker_thread *worker,
				struct work **ret_before)
{
	const struct workers *w = worker->owner;
	struct work *before = NULL, *best = NULL;
	unsigned least = 0;

	for (struct work *at = w->first_turn; at; at = at->next_turn) {
		unsigned n = count_running_work(w, at->whose);
		bool its = worker->busy && worker->whose == at->whose;

		if ((!best || n < least) &&
		    (!at->whose || n - its < (w->size + 1) / 2)) {
			*ret_before = before;
			best = at;
			least = n;
		}
		before = at;
	}
	return best;
}

/*
 * Returns NULL if there is no work, or all of it is of one owner that has half
 * of the threads; there is at most one such owner, since two would leave no
 * thread waiting.  This thread need not be woken when work of that half ends:
 * the thread that ends takes the owner's next work itself, or other work that
 * was pushed since, for which a thread was woken.
 */
static struct work *take_work(struct worker_thread *worker)
{
	struct workers *w = worker->owner;
	struct work *before = NULL, *work = choose_work(worker, &before);

	if (!work)
		return NULL;
	if (before)
		before->next_turn = work->next_turn;
	else
		w->first_turn = work->next_turn;
	if (w->last_turn == work)
		w->last_turn = before;
	if (work->next) {
		work->next->last = work->last;
		add_turn(w, work->next);
	}
	w->queued--;
	return work;
}

/* --- threads -------------------------------------------------------------- */

/* Returns NULL if there is no work left for it and the pool is ending. */
static struct work *next_work(struct worker_thread *worker)
{
	struct workers *w = worker->owner;
	struct work *work;

	pthread_mutex_lock(&w->lock);
	while (!(work = take_work(worker)) && !w->ending) {
		worker->busy = false;
		pthread_cond_wait(&w->more, &w->lock);
	}
	worker->busy = work != NULL;
	if (work)
		worker->whose = work->whose;
	pthread_mutex_unlock(&w->lock);
	return work;
}

static void *worker_main(void *arg)
{
	struct worker_thread *worker = arg;
	struct work *work;

	while ((work = next_work(worker)))
		work->run(work, worker->index);
	return NULL;
}

static int start_thread(struct workers *w, struct error *err)
{
	struct worker_thread *worker = &w->threads[w->count];

	worker->owner = w;
	worker->index = w->count;
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
		calloc(1, sizeof(*w) + threads * sizeof(struct worker_thread));

	if (!w) {
		error_set_nomem(err);
		return NULL;
	}
	w->queue_max = queue_max;
	w->size = threads;
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
		enqueue_work(w, work);
		pthread_cond_signal(&w->more);
	}
	pthread_mutex_unlock(&w->lock);
	return fits;
}

/* --- jobs of loops -------------------------------------------------------- */

struct posted_job {
	struct work work; /* first */
	struct loop *loop;
	void (*run)(void *arg, unsigned index);
	void (*done)(void *arg);
	void *arg;
};

/* A job that has run must be reported: if memory is short, this waits for
 * it. */
static void run_job(struct work *work, unsigned index)
{
	const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};
	struct posted_job *job = (struct posted_job *)work;
	struct error err;

	job->run(job->arg, index);
	while (loop_post(job->loop, job->done, job->arg, &err) < 0)
		nanosleep(&pause, NULL);
	free(job);
}

int workers_submit_of(struct workers *w, uint64_t whose, struct loop *loop,
		      void (*run)(void *arg, unsigned index),
		      void (*done)(void *arg), void *arg, struct error *err)
{
	struct posted_job *job = malloc(sizeof(*job));

	if (!job)
		return error_set_nomem(err);
	*job = (struct posted_job){
		{.run = run_job, .whose = whose}, loop, run, done, arg};
	if (workers_push(w, &job->work))
		return 0;
	free(job);
	return error_set_retriable(err, ERROR_FULL,
				   "all workers are busy and %zu jobs are "
				   "waiting",
				   w->queue_max);
}

int workers_submit(struct workers *w, struct loop *loop,
		   void (*run)(void *arg, unsigned index),
		   void (*done)(void *arg), void *arg, struct error *err)
{
	return workers_submit_of(w, 0, loop, run, done, arg, err);
}
