/*
 * event_spool.h - click events on disk while Kafka does not take them.
 *
 * A separate thread writes and replays.  Other threads pass events through a
 * queue (event_queue.h), and threads that answer visitors never wait for the
 * disk: events that do not fit are dropped.  Every event that was taken is
 * counted, by the hour of its time and in metrics: as spooled, and in the end
 * as acknowledged; or as undelivered.
 */
#ifndef REDIRECTOR_EVENTS_EVENT_SPOOL_H
#define REDIRECTOR_EVENTS_EVENT_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/app/health.h"
#include "common/error.h"
#include "common/kafka/producer.h"
#include "common/log.h"
#include "redirector/counters/hour_counts.h"
#include "redirector/events/event_queue.h"
#include "redirector/redirector_config.h"
#include "redirector/redirector_metrics.h"

struct event_spool;

struct event_spool_options {
	const struct redirector_settings *settings;
	const struct redirector_metrics *metrics;
	struct hour_writer *hours; /* counts from any thread */
	struct health_check *health;
	struct log *log;
	/* True if another process may still have the folder and is about to
	 * leave it: the folder is opened when that process has gone.  Events
	 * that come before then wait in the queue; those that still wait there
	 * at the end are left to the next process if they have an entry in the
	 * journal. */
	bool awaits_folder;
};

/* Opens the folder; events that a former process left in it will be replayed.
 * If the disk is full, or fails (disk_failure.h), it tries again each second:
 * events that come before then are dropped and counted.  All that the options
 * point to must outlive it. */
struct event_spool *event_spool_new(const struct event_spool_options *options,
				    struct error *err);
/* Calls event_spool_end first.  NULL accepted. */
void event_spool_free(struct event_spool *s);

/* Called before the start, if the folder is open: writes the events that killed
 * processes left in their journals, marked as maybe sent.  Events that do not
 * fit, or cannot be written, stay there.  The thread does the same when it has
 * opened the folder, and once a minute. */
void event_spool_recover(struct event_spool *s);

/* Begins to write and to replay. */
int event_spool_start(struct event_spool *s, struct kafka_producer *producer,
		      struct error *err);

/* True if the folder has been opened.  Callable from any thread. */
bool event_spool_is_open(const struct event_spool *s);

/* Copies the event.  Never waits: returns false when there is no room.
 * Callable from any thread. */
bool event_spool_offer(struct event_spool *s, const struct spool_event *event);

/* Works as event_spool_offer, but waits for room; if there will be none, the
 * event is dropped or left to another process.  For threads that no visitor
 * waits for. */
void event_spool_put(struct event_spool *s, const struct spool_event *event);

/* Pauses the replay while Kafka is away.  Callable from any thread. */
void event_spool_kafka_changed(struct event_spool *s, bool up);

/* Stops the replay; event_spool_put no longer waits for room if another process
 * has the folder.  When this returns, which may take as long as the disk does,
 * the producer is not used any more.  May be called again. */
void event_spool_stop_replay(struct event_spool *s);

/* Called after the producer is freed: writes what is queued, and ends the
 * thread. */
void event_spool_end(struct event_spool *s);

#endif
