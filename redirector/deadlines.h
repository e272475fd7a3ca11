/*
 * deadlines.h - what is to happen by a while from now, all of it by the same:
 * a queue, of which one timer watches the head.
 *
 * Belongs to its loop's thread, allocates nothing.
 */
#ifndef REDIRECTOR_DEADLINES_H
#define REDIRECTOR_DEADLINES_H

#include <stdint.h>

#include "common/error.h"
#include "common/loop/loop.h"

/* A part of what has to happen, zeroed. */
struct deadline {
	struct deadline *prev, *next;
	void *owner; /* for the function below */
	int64_t at;  /* 0: it is in no queue */
};

struct deadlines {
	struct loop_timer *timer;
	struct loop *loop;
	int64_t timeout;
	struct deadline *first, *last;
	void (*passed)(void *owner);
};

/* `passed` is called with those whose time is over, which are in no queue then;
 * it may add and remove others. */
int deadlines_init(struct deadlines *all, struct loop *loop, int64_t timeout_ms,
		   void (*passed)(void *owner), struct error *err);
void deadlines_release(struct deadlines *all); /* zeroed accepted */

void deadlines_add(struct deadlines *all, struct deadline *d, void *owner);
/* Of one in no queue: nothing. */
void deadlines_remove(struct deadlines *all, struct deadline *d);

#endif
