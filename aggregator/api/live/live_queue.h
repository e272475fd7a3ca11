/*
 * live_queue.h - clicks that wait for a subscriber who reads slowly: a ring.
 * When it is full the oldest is lost, and counted.
 */
#ifndef AGGREGATOR_API_LIVE_LIVE_QUEUE_H
#define AGGREGATOR_API_LIVE_LIVE_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "aggregator/api/live/live_event.h"

/* Zeroed, it may be released. */
struct live_queue {
	struct live_event **items;
	size_t size; /* what fits */
	size_t first, count;
	uint64_t lost; /* since live_queue_take_lost */
};

/* False: out of memory. */
bool live_queue_init(struct live_queue *q, size_t size);
void live_queue_release(struct live_queue *q);

/* Shares the event.  Returns whether another was lost for it. */
bool live_queue_put(struct live_queue *q, struct live_event *e);
/* The oldest, to be released; NULL: there is none. */
struct live_event *live_queue_take(struct live_queue *q);

/* How many were lost since the last call: all of them are older than what is
 * in the queue. */
uint64_t live_queue_take_lost(struct live_queue *q);

#endif
