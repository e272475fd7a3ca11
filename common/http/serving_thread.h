/*
 * serving_thread.h - a thread that runs a loop with a listener: started, told
 * to drain, joined.  The programs have one a processor, the admin port has one.
 */
#ifndef COMMON_HTTP_SERVING_THREAD_H
#define COMMON_HTTP_SERVING_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/http/listener.h"
#include "common/loop/loop.h"

/* http_listener_drain, or its like. */
typedef void serving_end(struct http_listener *l, int64_t timeout_ms,
			 void (*done)(void *arg), void *arg);

/* The owner fills in the first members, and frees loop and listener after the
 * join; the others are the thread's.  Zeroed, it may be drained and joined. */
struct serving_thread {
	struct loop *loop;
	struct http_listener *listener;
	int64_t drain_timeout; /* ms */
	serving_end *end;      /* how it drains; NULL: http_listener_drain */
	/* On the thread, once all is answered; ends with loop_stop, in its own
	 * time.  NULL: the loop is stopped at once. */
	void (*on_drained)(void *arg);
	/* On the thread, when its loop has failed and serves no longer.  NULL:
	 * nobody is told. */
	void (*on_failure)(void *arg, const struct error *err);
	void *arg;

	pthread_t thread;
	bool running;
};

int serving_thread_start(struct serving_thread *t, struct error *err);

/* Asks the thread to answer what it was asked, within drain_timeout, and to
 * end.  From another thread; does not wait. */
void serving_thread_drain(struct serving_thread *t);

/* Waits until it has ended.  A thread that was not started has. */
void serving_thread_join(struct serving_thread *t);

#endif
