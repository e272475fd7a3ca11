/*
 * not_stored.h - whether Kafka has certainly not stored a message whose
 * delivery failed, so that sending it again makes no double.
 *
 * librdkafka's status of the message alone does not tell: of each code of a
 * broker that librdkafka does not know it says NOT_PERSISTED, also of those
 * that a broker answers after it has appended the message.
 */
#ifndef COMMON_KAFKA_NOT_STORED_H
#define COMMON_KAFKA_NOT_STORED_H

#include <librdkafka/rdkafka.h>
#include <stdbool.h>

/* True where the status says so and the code is a definite one: librdkafka's
 * own, or that of a check which brokers make before they append. */
bool kafka_certainly_not_stored(rd_kafka_resp_err_t code,
				rd_kafka_msg_status_t status);

#endif
