/*
 * live_queue.h - clicks that wait for a subscriber that reads slowly: a ring.
 * If it is full, the oldest click is lost, and counted.
 */
#ifndef AGGREGATOR_API_LIVE_LIVE_QUEUE_H
#define AGGREGATOR_API_LIVE_LIVE_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "aggregator/api/live/live_event.h"

/* A zeroed queue may be released. */
struct live_queue {
	struct live_event **items;
	size_t size; /* capacity */
	size_t first, count;
	uint64_t lost; /* since live_queue_take_lost */
};

/* Returns false if out of memory. */
bool live_queue_init(struct live_queue *q, size_t size);
void live_queue_release(struct live_queue *q);

/* Shares the event.  Returns whether another was lost for it. */
bool live_queue_put(struct live_queue *q, struct live_event *e);
/* Returns the oldest event, to be released, or NULL. */
struct live_event *live_queue_take(struct live_queue *q);

/* Returns how many events were lost since the last call: all of them are older
 * than those in the queue. */
uint64_t live_queue_take_lost(struct live_queue *q);

#endif
