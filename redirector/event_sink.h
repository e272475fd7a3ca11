/*
 * event_sink.h - where click events go: to Kafka, or into the spool while it
 * does not take them (docs/design.md, Spool); by way of the journal, where
 * there is a spool.
 *
 * Tells `kafka` of /readyz, and `spool` and `journal` where there is to be one.
 * Counts what becomes of the events that it takes, by the hour of their time
 * and in metrics; that it took them, or did not, whoever sends them counts.
 */
#ifndef REDIRECTOR_EVENT_SINK_H
#define REDIRECTOR_EVENT_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/app/health.h"
#include "common/error.h"
#include "common/log.h"
#include "common/metrics/metrics.h"
#include "redirector/hour_counts.h"
#include "redirector/redirector_config.h"
#include "redirector/redirector_metrics.h"

struct event_sink;

struct event_sink_options {
	const struct redirector_config *config;
	const struct redirector_metrics *metrics;
	struct hour_writer *hours; /* counted in from any thread */
	size_t threads;		   /* that give events */
	struct metrics *registry;
	struct health *health;
	struct log *log;
	bool succeeds; /* another process may have the spool's folder yet */
};

/* All that the options name must outlive it.  Counts nothing yet. */
struct event_sink *event_sink_new(const struct event_sink_options *options,
				  struct error *err);
/* Ends it first.  NULL accepted. */
void event_sink_free(struct event_sink *sink);

/* Spools what processes that were killed left in their journals, makes one, and
 * begins to send; before any event is given.  A journal that the disk has no
 * room for is tried again each second, and events are taken without one. */
int event_sink_start(struct event_sink *sink, struct error *err);

enum event_taken {
	EVENT_TAKEN,
	EVENT_NO_ROOM, /* in Kafka's queue, nor in the spool's */
	EVENT_REFUSED, /* it is too large, or Kafka's client has failed */
};

struct taken_event {
	size_t thread; /* who gives it, from 0 on */
	int64_t time_ms;
	const void *data;
	size_t len;
};

/* Copies the event.  Never waits.  Where there is a spool, no kill of the
 * process costs what was taken: it stands in the journal, unless there was no
 * room. */
enum event_taken event_sink_take(struct event_sink *sink,
				 const struct taken_event *event);

/* Delivers what was taken, for at most `timeout_ms`, and replays nothing more;
 * what is left is said in the log. */
void event_sink_flush(struct event_sink *sink, int64_t timeout_ms);

/* Gives up what was not delivered: before this returns, it is spooled, counted
 * as undelivered, or left in the journal, where another process has the spool's
 * folder yet. */
void event_sink_end(struct event_sink *sink);

#endif
