/*
 * replay.h - sends the events of a spool to Kafka, and takes them out of it
 * once they are stored there.
 *
 * In the spool's order, and at a bounded rate; a bounded number of them is on
 * its way at a time.  One that fails is sent again before any that comes behind
 * those.  Belongs to the spool's thread, but for replay_on_delivery.
 */
#ifndef REDIRECTOR_REPLAY_H
#define REDIRECTOR_REPLAY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/kafka/producer.h"
#include "common/spool/spool.h"
#include "redirector/hour_counts.h"
#include "redirector/redirector_metrics.h"

struct replay;

struct replay_options {
	struct spool *spool;
	int64_t rate; /* events a second */
	/* Somebody waits for replay_step, which reads no more then. */
	const atomic_bool *stopped;
	const struct redirector_metrics *metrics;
	struct hour_writer *hours; /* what becomes of them is counted here */
};

struct replay *replay_new(const struct replay_options *options,
			  struct error *err);
/* No event may be on its way.  NULL accepted. */
void replay_free(struct replay *r);

/* Takes out of the spool what has arrived. */
void replay_retire(struct replay *r);

/*
 * Sends what may be sent by now (monotonic ms).  Returns -1 when the spool
 * cannot be read, which may be tried again.
 */
int replay_step(struct replay *r, struct kafka_producer *producer,
		int64_t now_ms, struct error *err);

/* Of the oldest event that was not taken out yet; 0: there is none on its way.
 */
int64_t replay_oldest_ms(const struct replay *r);
bool replay_is_idle(const struct replay *r);

/* What the producer tells of a message whose `opaque` replay_step gave it; on
 * the producer's thread. */
void replay_on_delivery(void *opaque, const struct error *err);

#endif
