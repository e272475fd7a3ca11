#include "aggregator/api/live/live_queue.h"

#include <stdlib.h>

bool live_queue_init(struct live_queue *q, size_t size)
{
	*q = (struct live_queue){.size = size};
	q->items = calloc(size, sizeof(struct live_event *));
	return q->items != NULL;
}

void live_queue_release(struct live_queue *q)
{
	struct live_event *e;

	while ((e = live_queue_take(q)))
		live_event_release(e);
	free(q->items);
	*q = (struct live_queue){0};
}

bool live_queue_put(struct live_queue *q, struct live_event *e)
{
	bool full = q->count == q->size;

	if (full) {
		live_event_release(live_queue_take(q));
		q->lost++;
	}
	q->items[(q->first + q->count++) % q->size] = live_event_share(e);
	return full;
}

struct live_event *live_queue_take(struct live_queue *q)
{
	struct live_event *e;

	if (!q->count)
		return NULL;
	e = q->items[q->first];
	q->first = (q->first + 1) % q->size;
	q->count--;
	return e;
}

uint64_t live_queue_take_lost(struct live_queue *q)
{
	uint64_t lost = q->lost;

	q->lost = 0;
	return lost;
}
