/*
 * event_queue.h - click events between the threads that have them and the one
 * thread that writes them to disk.
 *
 * The queue has a bounded size in bytes.  All functions but _new and _free are
 * callable from any thread; only one thread takes events.
 */
#ifndef REDIRECTOR_EVENTS_EVENT_QUEUE_H
#define REDIRECTOR_EVENTS_EVENT_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/error.h"
#include "redirector/events/event_journal.h"

struct event_queue;

struct spool_event {
	int64_t time_ms;
	bool maybe_sent; /* Kafka may have it already */
	/* The event's entry in the journal; NULL: none.  It is marked as done
	 * once the event was taken and is in the spool's files or dropped; not
	 * if the event is left to another process. */
	struct journal_entry *entry;
	const void *data;
	size_t len;
};

struct event_queue *event_queue_new(struct error *err);
/* NULL accepted. */
void event_queue_free(struct event_queue *q);

/* Copies the whole event, or returns false if there is no room, or after
 * event_queue_end.  Never waits. */
bool event_queue_offer(struct event_queue *q, const struct spool_event *event);

/* Works as event_queue_offer, but waits for room while `may_become_room` is
 * true; it is called with the queue locked, and again after event_queue_wake.
 */
bool event_queue_put(struct event_queue *q, const struct spool_event *event,
		     bool (*may_become_room)(void *arg), void *arg);

/* Waits for events, for event_queue_wake or until clock_monotonic_ms is
 * `until`, and moves all events into `ret`, whose memory it uses for those that
 * come.  Returns false after event_queue_end, if there was none left. */
bool event_queue_take(struct event_queue *q, int64_t until, struct buf *ret);

/* Reads the next of the events that event_queue_take returned, from *at on.
 * Returns false at the end.  The event's data lie in `taken`. */
bool event_queue_read(const struct buf *taken, size_t *at,
		      struct spool_event *ret);

/* Lets event_queue_take return, and those that wait for room look again. */
void event_queue_wake(struct event_queue *q);

/* No more events are accepted. */
void event_queue_end(struct event_queue *q);

/* Waits until clock_monotonic_ms is `until`.  Returns false as soon as
 * event_queue_end was called. */
bool event_queue_wait_end(struct event_queue *q, int64_t until);

#endif
