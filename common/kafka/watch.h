/*
 * watch.h - are the brokers there?  A part of the producer.
 *
 * A thread asks for the topic's metadata every few seconds, at once when
 * something looks wrong, and not at all while deliveries succeed.  Its answer
 * is the state.
 */
#ifndef COMMON_KAFKA_WATCH_H
#define COMMON_KAFKA_WATCH_H

#include <stdbool.h>

#include "common/error.h"
#include "common/kafka/kafka.h"
#include "common/metrics/metrics.h"

struct kafka_watch;

/* `rk` and `topic` must outlive kafka_watch_stop, or be replaced.  `metrics`
 * may be NULL. */
struct kafka_watch *kafka_watch_new(rd_kafka_t *rk, rd_kafka_topic_t *topic,
				    kafka_state_fn *on_state, void *arg,
				    struct metrics *metrics, struct error *err);
/* Joins the thread; the calls below stay allowed and do nothing.  NULL
 * accepted. */
void kafka_watch_stop(struct kafka_watch *w);
/* After kafka_watch_stop.  NULL accepted. */
void kafka_watch_free(struct kafka_watch *w);

/* Asks with these from now on; waits for a question under way.  That the former
 * ones have failed, and why, is told before anything else. */
void kafka_watch_replace(struct kafka_watch *w, rd_kafka_t *rk,
			 rd_kafka_topic_t *topic, const char *reason);

/* From any thread; each accepts NULL. */

/* A message was acknowledged just now. */
void kafka_watch_saw_life(struct kafka_watch *w);
/* Remembers what librdkafka said last, to explain a state of down. */
void kafka_watch_note(struct kafka_watch *w, const char *reason);
/* Asks the brokers now rather than later. */
void kafka_watch_look(struct kafka_watch *w);

bool kafka_watch_is_up(const struct kafka_watch *w);

#endif
