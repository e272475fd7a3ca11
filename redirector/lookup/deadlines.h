/*
 * deadlines.h - deadlines that are all the same time ahead when they are added:
 * a queue, with one timer for its head.
 *
 * Belongs to its loop's thread, allocates nothing.
 */
#ifndef REDIRECTOR_LOOKUP_DEADLINES_H
#define REDIRECTOR_LOOKUP_DEADLINES_H

#include <stdint.h>

#include "common/error.h"
#include "common/loop/loop.h"

/* A member of the struct that has the deadline; zeroed at first. */
struct deadline {
	struct deadline *prev, *next;
	void *owner; /* argument of `passed` */
	int64_t at;  /* 0: it is in no queue */
};

struct deadlines {
	struct loop_timer *timer;
	struct loop *loop;
	int64_t timeout;
	struct deadline *first, *last;
	void (*passed)(void *owner);
};

/* `passed` is called with the owner of each deadline that has passed, which is
 * in no queue any more; it may add and remove others. */
int deadlines_init(struct deadlines *all, struct loop *loop, int64_t timeout_ms,
		   void (*passed)(void *owner), struct error *err);
void deadlines_release(struct deadlines *all); /* zeroed accepted */

void deadlines_add(struct deadlines *all, struct deadline *d, void *owner);
/* Does nothing if it is in no queue. */
void deadlines_remove(struct deadlines *all, struct deadline *d);

#endif
