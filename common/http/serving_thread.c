#include "common/http/serving_thread.h"

#include <errno.h>

static void *run_serving_loop(void *arg)
{
	struct serving_thread *t = arg;
	struct error err = {0};

	if (loop_run(t->loop, &err) < 0 && t->on_failure)
		t->on_failure(t->arg, &err);
	return NULL;
}

int serving_thread_start(struct serving_thread *t, struct error *err)
{
	errno = pthread_create(&t->thread, NULL, run_serving_loop, t);
	if (errno != 0)
		return error_set_errno(err, "cannot start a thread");
	t->running = true;
	return 0;
}

static void on_drained(void *arg)
{
	struct serving_thread *t = arg;

	if (t->on_drained)
		t->on_drained(t->arg);
	else
		loop_stop(t->loop);
}

static void drain_listener(void *arg)
{
	struct serving_thread *t = arg;

	serving_end *end = t->end ? t->end : http_listener_drain;

	end(t->listener, t->drain_timeout, on_drained, t);
}

void serving_thread_drain(struct serving_thread *t)
{
	struct error ignored;

	if (t->running && loop_post(t->loop, drain_listener, t, &ignored) < 0)
		loop_stop(t->loop);
}

void serving_thread_join(struct serving_thread *t)
{
	if (t->running)
		pthread_join(t->thread, NULL);
	t->running = false;
}
