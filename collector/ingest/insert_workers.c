#include "collector/ingest/insert_workers.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

struct queue {
	struct courier_job *first, **last;
};

struct courier {
	struct couriers *all;
	struct sink *sink;
	pthread_t thread;
	bool running;
};

struct couriers {
	void *arg;
	pthread_mutex_t lock;
	pthread_cond_t more; /* a job, or the end */
	pthread_cond_t less; /* a job has ended */
	struct queue waiting, ended;
	atomic_bool any_ended;
	size_t pending; /* the polling thread's own */
	bool stopping;
	unsigned count;
	struct courier couriers[];
};

static void push(struct queue *q, struct courier_job *job)
{
	job->next = NULL;
	*q->last = job;
	q->last = &job->next;
}

static struct courier_job *pop(struct queue *q)
{
	struct courier_job *job = q->first;

	if (job) {
		q->first = job->next;
		if (!q->first)
			q->last = &q->first;
	}
	return job;
}

static void *carry(void *arg)
{
	struct courier *courier = arg;
	struct couriers *c = courier->all;
	struct courier_job *job;

	pthread_mutex_lock(&c->lock);
	for (;;) {
		while (!c->stopping && !c->waiting.first)
			pthread_cond_wait(&c->more, &c->lock);
		if (c->stopping)
			break;
		job = pop(&c->waiting);
		pthread_mutex_unlock(&c->lock);
		job->run(job, courier->sink);
		pthread_mutex_lock(&c->lock);
		push(&c->ended, job);
		atomic_store(&c->any_ended, true);
		pthread_cond_signal(&c->less);
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

static int start(struct courier *courier, struct couriers *c,
		 const struct clickhouse_config *config, struct error *err)
{
	courier->all = c;
	courier->sink = sink_new(config, err);
	if (!courier->sink)
		return -1;
	errno = pthread_create(&courier->thread, NULL, carry, courier);
	if (errno)
		return error_set_errno(err, "cannot start a thread");
	courier->running = true;
	return 0;
}

static void init(struct couriers *c)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->more, NULL);
	pthread_cond_init(&c->less, &attr);
	pthread_condattr_destroy(&attr);
	c->waiting.last = &c->waiting.first;
	c->ended.last = &c->ended.first;
}

struct couriers *couriers_new(unsigned threads,
			      const struct clickhouse_config *config, void *arg,
			      struct error *err)
{
	struct couriers *c =
		calloc(1, sizeof(*c) + threads * sizeof(struct courier));

	if (!c) {
		error_set_nomem(err);
		return NULL;
	}
	c->arg = arg;
	init(c);
	for (; c->count < threads; c->count++)
		if (start(&c->couriers[c->count], c, config, err) < 0) {
			sink_free(c->couriers[c->count].sink);
			couriers_free(c);
			return NULL;
		}
	return c;
}

void couriers_free(struct couriers *c)
{
	struct courier_job *job;

	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	c->stopping = true;
	pthread_cond_broadcast(&c->more);
	pthread_mutex_unlock(&c->lock);
	for (unsigned i = 0; i < c->count; i++) {
		clickhouse_abort(sink_server(c->couriers[i].sink));
		if (c->couriers[i].running)
			pthread_join(c->couriers[i].thread, NULL);
		sink_free(c->couriers[i].sink);
	}
	while ((job = pop(&c->ended)) || (job = pop(&c->waiting)))
		job->done(job, c->arg);
	pthread_cond_destroy(&c->more);
	pthread_cond_destroy(&c->less);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

void couriers_submit(struct couriers *c, struct courier_job *job)
{
	c->pending++;
	pthread_mutex_lock(&c->lock);
	push(&c->waiting, job);
	pthread_cond_signal(&c->more);
	pthread_mutex_unlock(&c->lock);
}

static struct timespec in_ms(int ms)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec += ms / 1000;
	t.tv_nsec += ms % 1000 * 1000000L;
	if (t.tv_nsec >= 1000000000L) {
		t.tv_sec++;
		t.tv_nsec -= 1000000000L;
	}
	return t;
}

static struct courier_job *take_ended(struct couriers *c, int timeout_ms)
{
	struct timespec until;
	struct courier_job *jobs;

	if (timeout_ms <= 0 && !atomic_load(&c->any_ended))
		return NULL;
	until = in_ms(timeout_ms);
	pthread_mutex_lock(&c->lock);
	while (!c->ended.first && timeout_ms > 0)
		if (pthread_cond_timedwait(&c->less, &c->lock, &until))
			break;
	jobs = c->ended.first;
	c->ended.first = NULL;
	c->ended.last = &c->ended.first;
	atomic_store(&c->any_ended, false);
	pthread_mutex_unlock(&c->lock);
	return jobs;
}

size_t couriers_serve(struct couriers *c, int timeout_ms)
{
	struct courier_job *next;
	size_t count = 0;

	for (struct courier_job *job = take_ended(c, timeout_ms); job;
	     job = next) {
		next = job->next;
		c->pending--;
		count++;
		job->done(job, c->arg);
	}
	return count;
}

bool couriers_ended(struct couriers *c)
{
	return atomic_load(&c->any_ended);
}

size_t couriers_pending(const struct couriers *c)
{
	return c->pending;
}
