/*
 * not_stored.h - decides whether Kafka has certainly not stored a message whose
 * delivery failed, so that sending it again makes no duplicate.
 *
 * librdkafka's message status alone is not enough: for every broker error that
 * librdkafka does not know the status is NOT_PERSISTED, also for errors that a
 * broker returns after it has appended the message.
 */
#ifndef COMMON_KAFKA_NOT_STORED_H
#define COMMON_KAFKA_NOT_STORED_H

#include <librdkafka/rdkafka.h>
#include <stdbool.h>

/* Returns true if the status says so and the code is a definite one:
 * librdkafka's own, or that of a check which brokers make before they
 * append. */
bool kafka_certainly_not_stored(rd_kafka_resp_err_t code,
				rd_kafka_msg_status_t status);

#endif
