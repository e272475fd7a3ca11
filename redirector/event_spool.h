/*
 * event_spool.h - click events on disk while Kafka does not take them.
 *
 * A thread of its own writes and replays.  Others hand events over by a queue
 * of bounded size, and none of those that answer visitors waits for the disk:
 * what does not fit is dropped.  Every event that was taken is counted, by the
 * hour of its time and in metrics: spooled, and in the end acknowledged; or
 * undelivered.
 */
#ifndef REDIRECTOR_EVENT_SPOOL_H
#define REDIRECTOR_EVENT_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/app/health.h"
#include "common/error.h"
#include "common/kafka/producer.h"
#include "common/log.h"
#include "redirector/event_journal.h"
#include "redirector/hour_counts.h"
#include "redirector/redirector_config.h"
#include "redirector/redirector_metrics.h"

struct event_spool;

struct event_spool_options {
	const struct redirector_settings *settings;
	const struct redirector_metrics *metrics;
	struct hour_writer *hours; /* counted in from any thread */
	struct health_check *health;
	struct log *log;
	/* Another process may have the folder yet, and is about to leave it:
	 * it is opened when that has gone.  What comes until then waits in the
	 * queue; what waits there at the end is left to the next one, where it
	 * has an entry in the journal. */
	bool awaits_folder;
};

/* Opens the folder; what a former process left in it is to be replayed.  Where
 * the disk is full, or fails (disk_failure.h), it is tried again each second:
 * what comes until then is dropped and counted.  All that the options name must
 * outlive it. */
struct event_spool *event_spool_new(const struct event_spool_options *options,
				    struct error *err);
/* Ends it first.  NULL accepted. */
void event_spool_free(struct event_spool *s);

/* Before the start, where the folder is open: writes what processes that were
 * killed left in their journals, marked as maybe sent.  What does not fit, or
 * cannot be written, stays there.  It is looked for again when the folder has
 * been opened, and once a minute. */
void event_spool_recover(struct event_spool *s);

/* Begins to write and to replay. */
int event_spool_start(struct event_spool *s, struct kafka_producer *producer,
		      struct error *err);

/* Has the folder been opened?  From any thread. */
bool event_spool_is_open(const struct event_spool *s);

struct spool_event {
	int64_t time_ms;
	bool maybe_sent; /* somebody may have it already */
	/* Where it stands in the journal; NULL: nowhere.  Done once the event
	 * was taken, and is in the spool's files or given up; not done where it
	 * is left. */
	struct journal_entry *entry;
	const void *data;
	size_t len;
};

/* Takes a copy of the event.  Never waits: false when there is no room.  From
 * any thread. */
bool event_spool_offer(struct event_spool *s, const struct spool_event *event);

/* The same, and waits for room, or gives it up; for threads that no visitor
 * waits for. */
void event_spool_put(struct event_spool *s, const struct spool_event *event);

/* Nothing is replayed while Kafka is away.  From any thread. */
void event_spool_kafka_changed(struct event_spool *s, bool up);

/* Sends nothing more, and waits no longer for room if the folder is another
 * process'.  When it returns, which may take as long as the disk does, the
 * producer is not used any more.  May be called again. */
void event_spool_stop_replay(struct event_spool *s);

/* After the producer is gone: writes what is queued, and ends the thread. */
void event_spool_end(struct event_spool *s);

#endif
