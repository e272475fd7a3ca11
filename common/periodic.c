#include "common/periodic.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/wake.h"

struct periodic {
	periodic_fn *fn;
	void *arg;
	pthread_t thread;
	bool started;
	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t wake;
	bool asked;
	bool stopping;
};

/* Avoids overflow: PERIODIC_NEVER is far from now. */
static int64_t in_ms(int64_t ms)
{
	int64_t now = clock_monotonic_ms();

	return ms < INT64_MAX / 2 ? now + ms : INT64_MAX / 2;
}

/* Returns false if the thread has to end. */
static bool wait_for_next_run(struct periodic *p, int64_t ms)
{
	int64_t until = in_ms(ms);
	bool go_on;

	pthread_mutex_lock(&p->lock);
	while (!p->stopping && !p->asked &&
	       wake_wait(&p->wake, &p->lock, until))
		;
	p->asked = false;
	go_on = !p->stopping;
	pthread_mutex_unlock(&p->lock);
	return go_on;
}

static void *run_periodic_thread(void *arg)
{
	struct periodic *p = arg;

	while (wait_for_next_run(p, p->fn(p, p->arg)))
		;
	return NULL;
}

struct periodic *periodic_new(periodic_fn *fn, void *arg, struct error *err)
{
	struct periodic *p = calloc(1, sizeof(*p));

	if (!p) {
		error_set_nomem(err);
		return NULL;
	}
	p->fn = fn;
	p->arg = arg;
	errno = wake_init(&p->wake);
	if (errno) {
		error_set_errno(err, "cannot make a condition");
		free(p);
		return NULL;
	}
	pthread_mutex_init(&p->lock, NULL);
	return p;
}

int periodic_start(struct periodic *p, struct error *err)
{
	errno = pthread_create(&p->thread, NULL, run_periodic_thread, p);
	if (errno)
		return error_set_errno(err, "cannot start a thread");
	p->started = true;
	return 0;
}

void periodic_wake(struct periodic *p)
{
	pthread_mutex_lock(&p->lock);
	p->asked = true;
	pthread_cond_signal(&p->wake);
	pthread_mutex_unlock(&p->lock);
}

bool periodic_should_stop(struct periodic *p, int64_t ms)
{
	int64_t until = in_ms(ms);
	bool stopping;

	pthread_mutex_lock(&p->lock);
	while (!p->stopping && ms > 0 && wake_wait(&p->wake, &p->lock, until))
		;
	stopping = p->stopping;
	pthread_mutex_unlock(&p->lock);
	return stopping;
}

void periodic_end(struct periodic *p)
{
	pthread_mutex_lock(&p->lock);
	p->stopping = true;
	pthread_cond_signal(&p->wake);
	pthread_mutex_unlock(&p->lock);
}

void periodic_stop(struct periodic *p)
{
	if (!p->started)
		return;
	periodic_end(p);
	pthread_join(p->thread, NULL);
	p->started = false;
}

void periodic_free(struct periodic *p)
{
	if (!p)
		return;
	periodic_stop(p);
	pthread_cond_destroy(&p->wake);
	pthread_mutex_destroy(&p->lock);
	free(p);
}
