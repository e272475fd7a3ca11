/*
 * mock_kafka.h - a Kafka of one broker and one topic with one partition:
 * librdkafka's own mock, in this process.
 */
#ifndef TESTS_UNIT_MOCK_KAFKA_H
#define TESTS_UNIT_MOCK_KAFKA_H

#include "tests/unit/unit.h"

#include <librdkafka/rdkafka.h>
/* This header needs rdkafka.h before it. */
#include <librdkafka/rdkafka_mock.h>

#include "common/kafka/kafka.h"

/* The client that hosts the mock logs nothing. */
static inline rd_kafka_mock_cluster_t *mock_kafka_start(const char *topic)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	rd_kafka_mock_cluster_t *mock;
	rd_kafka_t *host;
	char text[256];

	rd_kafka_conf_set_log_cb(conf, NULL);
	host = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof(text));
	if (!host)
		fail_msg("%s", text);
	mock = rd_kafka_mock_cluster_new(host, 1);
	assert_non_null(mock);
	rd_kafka_mock_topic_create(mock, topic, 1, 1);
	return mock;
}

static inline void mock_kafka_stop(rd_kafka_mock_cluster_t *mock)
{
	rd_kafka_t *host = rd_kafka_mock_cluster_handle(mock);

	rd_kafka_mock_cluster_destroy(mock);
	rd_kafka_destroy(host);
}

/* The topic of a mock that is a test's state. */
#define MOCK_KAFKA_TOPIC "t"

static inline int mock_kafka_set_up(void **state)
{
	*state = mock_kafka_start(MOCK_KAFKA_TOPIC);
	return 0;
}

static inline int mock_kafka_tear_down(void **state)
{
	mock_kafka_stop(*state);
	return 0;
}

/* A configuration of clients; it points into itself, so it must not be copied.
 */
struct mock_kafka_config {
	struct kafka_config config;
	char address[256];
	char *brokers[2];
	char protocol[16];
};

static inline void mock_kafka_configure(rd_kafka_mock_cluster_t *mock,
					struct mock_kafka_config *ret)
{
	*ret = (struct mock_kafka_config){.protocol = "plaintext"};
	snprintf(ret->address, sizeof(ret->address), "%s",
		 rd_kafka_mock_cluster_bootstraps(mock));
	ret->brokers[0] = ret->address;
	ret->config.brokers.items = ret->brokers;
	ret->config.brokers.count = 1;
	ret->config.security_protocol = ret->protocol;
}

/* A producer that logs nothing; the caller destroys it. */
static inline rd_kafka_t *mock_kafka_producer(rd_kafka_mock_cluster_t *mock)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	char text[256];
	rd_kafka_t *rk;

	rd_kafka_conf_set_log_cb(conf, NULL);
	assert_int_equal(
		rd_kafka_conf_set(conf, "bootstrap.servers",
				  rd_kafka_mock_cluster_bootstraps(mock), text,
				  sizeof(text)),
		RD_KAFKA_CONF_OK);
	rk = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof(text));
	if (!rk)
		fail_msg("%s", text);
	return rk;
}

#endif
