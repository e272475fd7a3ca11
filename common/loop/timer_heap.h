/*
 * timer_heap.h - the timers of one loop, ordered by due time.
 *
 * A binary min-heap (Knuth, TAOCP 3, 5.2.3).  Moving a timer to a later time is
 * only a store: it keeps its place and is sorted in again once it comes up.  A
 * timeout does that on every request of a busy connection.
 */
#ifndef COMMON_LOOP_TIMER_HEAP_H
#define COMMON_LOOP_TIMER_HEAP_H

#include <stddef.h>
#include <stdint.h>

#include "common/loop/loop.h"

#define TIMER_UNARMED INT64_MAX

struct loop_timer {
	struct loop *loop;
	loop_timer_fn *fn;
	void *arg;
	int64_t when; /* due time in ms; TIMER_UNARMED: none */
	int64_t key;  /* its key in the heap: never after `when` */
	size_t index; /* in the heap, 1-based; 0: not in it */
	struct loop_timer *prev, *next; /* all timers of the loop */
};

struct timer_heap {
	struct loop_timer **slots; /* slots[0] is the earliest */
	size_t count, cap;
};

/* Reserves room for `cap` timers, so that no later call can fail. */
int timer_heap_reserve(struct timer_heap *heap, size_t cap, struct error *err);
void timer_heap_release(struct timer_heap *heap);

/* Arms, moves or (TIMER_UNARMED) disarms a timer. */
void timer_heap_set(struct timer_heap *heap, struct loop_timer *timer,
		    int64_t when);
void timer_heap_remove(struct timer_heap *heap, struct loop_timer *timer);

/* Returns when to check again, TIMER_UNARMED for never.  May be too early. */
int64_t timer_heap_next(const struct timer_heap *heap);

/* Removes a timer that is due at `now` and disarms it, or returns NULL. */
struct loop_timer *timer_heap_pop(struct timer_heap *heap, int64_t now);

#endif
