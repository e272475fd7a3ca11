/*
 * serving_thread.h - a thread that runs a loop with a listener: it is started,
 * drained and joined.  The programs have one per processor, the admin port has
 * one.
 */
#ifndef COMMON_HTTP_SERVING_THREAD_H
#define COMMON_HTTP_SERVING_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/http/listener.h"
#include "common/loop/loop.h"

/* http_listener_drain, or a function like it. */
typedef void serving_end(struct http_listener *l, int64_t timeout_ms,
			 void (*done)(void *arg), void *arg);

/* The owner fills in the first members, and frees loop and listener after the
 * join; the others are private.  A zeroed struct may be drained and joined. */
struct serving_thread {
	struct loop *loop;
	struct http_listener *listener;
	int64_t drain_timeout; /* ms */
	serving_end *end; /* the way it drains; NULL: http_listener_drain */
	/* Called on the thread once all is answered; has to call loop_stop, at
	 * once or later.  NULL: the loop is stopped at once. */
	void (*on_drained)(void *arg);
	/* Called on the thread when its loop has failed and no longer serves.
	 * NULL: the failure is not reported. */
	void (*on_failure)(void *arg, const struct error *err);
	void *arg;

	pthread_t thread;
	bool running;
};

int serving_thread_start(struct serving_thread *t, struct error *err);

/* Makes the thread answer pending requests, within drain_timeout, and then end.
 * Called from another thread; does not wait. */
void serving_thread_drain(struct serving_thread *t);

/* Waits until the thread has ended.  Returns at once for a thread that was not
 * started. */
void serving_thread_join(struct serving_thread *t);

#endif
