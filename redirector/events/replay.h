/*
 * replay.h - sends the events of a spool to Kafka, and removes them from the
 * spool once they are stored there.
 *
 * Events are sent in the spool's order, at a limited rate, and with a limited
 * number under way.  Events that failed are sent again before any new ones.
 * Belongs to the spool's thread, except for replay_on_delivery.
 */
#ifndef REDIRECTOR_EVENTS_REPLAY_H
#define REDIRECTOR_EVENTS_REPLAY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/kafka/producer.h"
#include "common/spool/spool.h"
#include "redirector/counters/hour_counts.h"
#include "redirector/redirector_metrics.h"

struct replay;

struct replay_options {
	struct spool *spool;
	int64_t rate; /* events a second */
	/* True if another thread waits for the end of replay_step, which then
	 * reads no more. */
	const atomic_bool *stopped;
	const struct redirector_metrics *metrics;
	struct hour_writer *hours; /* counts the results */
};

struct replay *replay_new(const struct replay_options *options,
			  struct error *err);
/* No event may be under way.  NULL accepted. */
void replay_free(struct replay *r);

/* Removes events that Kafka has from the spool. */
void replay_retire(struct replay *r);

/*
 * Sends the events that may be sent by now (monotonic ms).  Returns -1 when the
 * spool cannot be read; the caller may try again.
 */
int replay_step(struct replay *r, struct kafka_producer *producer,
		int64_t now_ms, struct error *err);

/* Returns the time of the oldest event that was not removed yet; 0: none is
 * under way. */
int64_t replay_oldest_ms(const struct replay *r);
bool replay_is_idle(const struct replay *r);

/* Receives the producer's result for a message whose `opaque` replay_step set;
 * called on the producer's thread. */
void replay_on_delivery(void *opaque, const struct error *err);

#endif
