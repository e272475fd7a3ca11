/*
 * workers.h - threads for calls that block (SQL, disk), beside the loops.
 *
 * A job runs on a worker thread; its `done` then runs on the loop that
 * submitted it.  The queue is bounded: a full one refuses, and the caller
 * answers 503 rather than wait.
 *
 * A thread without a loop pushes work instead; its `run` reports the completion
 * itself.
 *
 * Owners with work in the queue take turns, the owner with the least running
 * work first, so that none waits for all the work of another.  No owner has
 * more than half of the threads, so that another that submits several jobs gets
 * as many.  `whose` is a number that identifies the owner.  0 means no owner:
 * all such work takes turns as one owner, and may have all threads.
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
 * must still exist.  NULL accepted. */
void workers_free(struct workers *w);

/* Submits a job without an owner.  `index` is the worker's number, 0 to threads
 * - 1, so that each can have a connection.  Returns -1 (ERROR_FULL, retriable)
 * if the queue is full.  Callable from any thread. */
int workers_submit(struct workers *w, struct loop *loop,
		   void (*run)(void *arg, unsigned index),
		   void (*done)(void *arg), void *arg, struct error *err);
/* The same for a job of an owner. */
int workers_submit_of(struct workers *w, uint64_t whose, struct loop *loop,
		      void (*run)(void *arg, unsigned index),
		      void (*done)(void *arg), void *arg, struct error *err);

/* The first member of a struct that the caller allocates; the caller fills in
 * `run` and `whose`; when `run` is called, the pool no longer refers to it. */
struct work {
	void (*run)(struct work *work, unsigned index);
	uint64_t whose;
	struct work *next;
	/* Private to the pool: used in the first waiting work of each owner. */
	struct work *last, *next_turn;
};

/* Returns false if the queue is full.  Callable from any thread. */
bool workers_push(struct workers *w, struct work *work);

/* A FIFO queue; {0} is an empty one.  The caller locks it. */
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
