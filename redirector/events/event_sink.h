/*
 * event_sink.h - where click events go: to Kafka, or into the spool while Kafka
 * does not take them (docs/design.md, Spool).  If there is a spool, events pass
 * through the journal.
 *
 * Reports `kafka` to /readyz, and `spool` and `journal` if there is to be a
 * spool.  Counts what becomes of the events that it takes, by the hour of their
 * time and in metrics; the caller counts whether they were taken.
 */
#ifndef REDIRECTOR_EVENTS_EVENT_SINK_H
#define REDIRECTOR_EVENTS_EVENT_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/app/health.h"
#include "common/error.h"
#include "common/log.h"
#include "common/metrics/metrics.h"
#include "redirector/counters/hour_counts.h"
#include "redirector/redirector_config.h"
#include "redirector/redirector_metrics.h"

struct event_sink;

struct event_sink_options {
	const struct redirector_config *config;
	const struct redirector_metrics *metrics;
	struct hour_writer *hours; /* counts from any thread */
	size_t threads;		   /* number of threads that pass events */
	struct metrics *registry;
	struct health *health;
	struct log *log;
	bool succeeds; /* another process may still have the spool's folder */
};

/* All that the options point to must outlive it.  Counts nothing yet. */
struct event_sink *event_sink_new(const struct event_sink_options *options,
				  struct error *err);
/* Calls event_sink_end first.  NULL accepted. */
void event_sink_free(struct event_sink *sink);

/* Spools what processes that were killed left in their journals, makes a
 * journal, and begins to send; called before any event is passed.  If the disk
 * has no room for a journal, the sink tries again each second, and takes events
 * without one. */
int event_sink_start(struct event_sink *sink, struct error *err);

enum event_taken {
	EVENT_TAKEN,
	EVENT_NO_ROOM, /* no room in Kafka's queue, or in the spool's */
	EVENT_REFUSED, /* it is too large, or the Kafka client has failed */
};

struct taken_event {
	size_t thread; /* number of the calling thread, from 0 on */
	int64_t time_ms;
	const void *data;
	size_t len;
};

/* Copies the event.  Never waits.  With a spool, a kill of the process does not
 * lose an event that was taken: it is in the journal, unless there was no
 * room. */
enum event_taken event_sink_take(struct event_sink *sink,
				 const struct taken_event *event);

/* Delivers events that were taken, for at most `timeout_ms`, and replays
 * nothing more; the log reports what is left. */
void event_sink_flush(struct event_sink *sink, int64_t timeout_ms);

/* Stops delivery: before this returns, each event that was not delivered is
 * spooled, counted as undelivered, or left in the journal if another process
 * still has the spool's folder. */
void event_sink_end(struct event_sink *sink);

#endif
