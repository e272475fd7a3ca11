#include "redirector/events/event_queue.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/wake.h"

#define QUEUE_BYTES ((size_t)8 << 20)
#define QUEUE_KEEP  ((size_t)256 << 10)

/* Precedes each event in the queue. */
struct queued_head {
	int64_t time_ms;
	struct journal_entry *entry;
	uint32_t len;
	bool maybe_sent;
};

struct event_queue {
	pthread_mutex_t lock; /* protects the other members */
	pthread_cond_t work, room;
	struct buf events;
	bool woken, ending;
};

/* --- making --------------------------------------------------------------- */

struct event_queue *event_queue_new(struct error *err)
{
	struct event_queue *q = calloc(1, sizeof(*q));

	if (!q) {
		error_set_nomem(err);
		return NULL;
	}
	errno = wake_init(&q->work);
	if (errno) {
		error_set_errno(err, "spool");
		free(q);
		return NULL;
	}
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->room, NULL);
	return q;
}

void event_queue_free(struct event_queue *q)
{
	if (!q)
		return;
	buf_free(&q->events);
	pthread_cond_destroy(&q->work);
	pthread_cond_destroy(&q->room);
	pthread_mutex_destroy(&q->lock);
	free(q);
}

/* --- in --------------------------------------------------------------------
 */

/* Appends the whole event or nothing.  Called with the lock held. */
static bool append_event(struct event_queue *q, const struct spool_event *event)
{
	const struct queued_head head = {event->time_ms, event->entry,
					 (uint32_t)event->len,
					 event->maybe_sent};
	size_t need = sizeof(head) + event->len;

	if (q->ending || q->events.len + need > QUEUE_BYTES)
		return false;
	if (!buf_reserve(&q->events, need)) {
		/* A failed reserve leaves the queue as it was. */
		q->events.failed = false;
		return false;
	}
	buf_append(&q->events, &head, sizeof(head));
	buf_append(&q->events, event->data, event->len);
	pthread_cond_signal(&q->work);
	return true;
}

bool event_queue_offer(struct event_queue *q, const struct spool_event *event)
{
	bool taken;

	pthread_mutex_lock(&q->lock);
	taken = append_event(q, event);
	pthread_mutex_unlock(&q->lock);
	return taken;
}

bool event_queue_put(struct event_queue *q, const struct spool_event *event,
		     bool (*may_become_room)(void *arg), void *arg)
{
	bool taken;

	pthread_mutex_lock(&q->lock);
	while (!(taken = append_event(q, event)) && !q->ending &&
	       may_become_room(arg))
		pthread_cond_wait(&q->room, &q->lock);
	pthread_mutex_unlock(&q->lock);
	return taken;
}

/* --- out -------------------------------------------------------------------
 */

bool event_queue_take(struct event_queue *q, int64_t until, struct buf *ret)
{
	struct buf empty = *ret;
	bool go_on;

	buf_empty(&empty, QUEUE_KEEP);
	pthread_mutex_lock(&q->lock);
	while (q->events.len == 0 && !q->woken && !q->ending &&
	       wake_wait(&q->work, &q->lock, until))
		;
	q->woken = false;
	*ret = q->events;
	q->events = empty;
	go_on = ret->len > 0 || !q->ending;
	pthread_cond_broadcast(&q->room);
	pthread_mutex_unlock(&q->lock);
	return go_on;
}

bool event_queue_read(const struct buf *taken, size_t *at,
		      struct spool_event *ret)
{
	struct queued_head head;

	if (*at == taken->len)
		return false;
	memcpy(&head, taken->data + *at, sizeof(head));
	*ret = (struct spool_event){
		.time_ms = head.time_ms,
		.maybe_sent = head.maybe_sent,
		.entry = head.entry,
		.data = taken->data + *at + sizeof(head),
		.len = head.len,
	};
	*at += sizeof(head) + head.len;
	return true;
}

/* --- the end ---------------------------------------------------------------
 */

void event_queue_wake(struct event_queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->woken = true;
	pthread_cond_signal(&q->work);
	pthread_cond_broadcast(&q->room);
	pthread_mutex_unlock(&q->lock);
}

void event_queue_end(struct event_queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->ending = true;
	pthread_cond_signal(&q->work);
	pthread_mutex_unlock(&q->lock);
}

bool event_queue_wait_end(struct event_queue *q, int64_t until)
{
	bool go_on;

	pthread_mutex_lock(&q->lock);
	while (!q->ending && wake_wait(&q->work, &q->lock, until))
		;
	go_on = !q->ending;
	pthread_mutex_unlock(&q->lock);
	return go_on;
}
