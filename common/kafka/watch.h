/*
 * watch.h - monitors whether the brokers are up.  Part of the producer.
 *
 * A thread queries the topic's metadata every few seconds, at once after an
 * error, and not at all while deliveries succeed.  The result is the state.
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
/* Call it after kafka_watch_stop.  NULL accepted. */
void kafka_watch_free(struct kafka_watch *w);

/* Uses these for queries from now on; waits for a pending query.  The failure
 * of the former client and its reason are reported before anything else. */
void kafka_watch_replace(struct kafka_watch *w, rd_kafka_t *rk,
			 rd_kafka_topic_t *topic, const char *reason);

/* The calls below are allowed from any thread; each accepts NULL. */

/* A message was acknowledged just now. */
void kafka_watch_saw_life(struct kafka_watch *w);
/* Remembers librdkafka's last message, to explain a state of down. */
void kafka_watch_note(struct kafka_watch *w, const char *reason);
/* Queries the brokers at once. */
void kafka_watch_look(struct kafka_watch *w);

bool kafka_watch_is_up(const struct kafka_watch *w);

#endif
