/*
 * workers.h - threads for calls that block (SQL, disk), beside the loops.
 *
 * A job runs on a worker thread; its `done` then runs on the loop that
 * submitted it.  The queue is bounded: a full one refuses, and the caller
 * answers 503 rather than wait.
 *
 * A thread without a loop pushes work instead, which hands itself over when it
 * has run.
 *
 * Who has work in the queue takes turns with the others who have, those first
 * of whom least is being done, so that nobody waits for all that another one
 * has asked for.  Nor does one have more than half of the threads, so that who
 * comes with several at once has as many.  That is by `whose`, a number that
 * tells them apart.  0 is nobody's: it takes turns as one of them, and may have
 * all threads.
 */
#ifndef COMMON_LOOP_WORKERS_H
#define COMMON_LOOP_WORKERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/loop/loop.h"

struct workers;

/* `queue_max` jobs may wait for a thread. */
struct workers *workers_new(unsigned threads, size_t queue_max,
			    struct error *err);
/* Finishes what is queued, then joins the threads.  The loops that submitted
 * must still exist.  Accepts NULL. */
void workers_free(struct workers *w);

/* Nobody's.  `index` is the worker's number, 0 to threads - 1: for a connection
 * each.  Returns -1 (ERROR_FULL, retriable) when the queue is full.  From any
 * thread. */
int workers_submit(struct workers *w, struct loop *loop,
		   void (*run)(void *arg, unsigned index),
		   void (*done)(void *arg), void *arg, struct error *err);
/* The same, which is somebody's. */
int workers_submit_of(struct workers *w, uint64_t whose, struct loop *loop,
		      void (*run)(void *arg, unsigned index),
		      void (*done)(void *arg), void *arg, struct error *err);

/* The first member of what its owner allocates, who fills in `run` and `whose`;
 * the pool has forgotten it when it calls `run`. */
struct work {
	void (*run)(struct work *work, unsigned index);
	uint64_t whose;
	struct work *next;
	/* The pool's, of the first one of each owner that waits. */
	struct work *last, *next_turn;
};

/* False when the queue is full.  From any thread. */
bool workers_push(struct workers *w, struct work *work);

/* First in, first out; {0} is an empty one.  Its owner locks it. */
struct work_queue {
	struct work *first, *last;
};

static inline void work_queue_push(struct work_queue *q, struct work *work)
{
	work->next = NULL;
	if (q->first)
		q->last->next = work;
	else
		q->first = work;
	q->last = work;
}

#endif
