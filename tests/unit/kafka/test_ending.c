/* The end of a librdkafka client.  The broker is librdkafka's own mock, in this
 * process. */
#include "tests/unit/mock_kafka.h"
#include "tests/unit/unit.h"

#include "common/clock.h"
#include "common/kafka/ending.h"
#include "common/kafka/kafka.h"

enum {
	AWAIT_MS = 60000,
};

static const char topic[] = MOCK_KAFKA_TOPIC;

static rd_kafka_t *new_consumer(rd_kafka_mock_cluster_t *mock)
{
	const char *const properties[][2] = {
		{"bootstrap.servers", rd_kafka_mock_cluster_bootstraps(mock)},
		{"group.id", "g"},
		{"enable.auto.commit", "false"},
		{"auto.offset.reset", "error"},
		{"enable.partition.eof", "true"},
		{"fetch.wait.max.ms", "10"},
	};
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	struct error err = {0};
	char text[256];
	rd_kafka_t *rk;

	rd_kafka_conf_set_log_cb(conf, NULL);
	if (kafka_conf_set_all(conf, properties,
			       sizeof(properties) / sizeof(*properties),
			       &err) < 0)
		fail_msg("%s", err.text);
	rk = rd_kafka_new(RD_KAFKA_CONSUMER, conf, text, sizeof(text));
	if (!rk)
		fail_msg("%s", text);
	rd_kafka_poll_set_consumer(rk);
	return rk;
}

/* Returns the message about the end; the caller releases it. */
static rd_kafka_message_t *read_to_end(rd_kafka_t *rk)
{
	rd_kafka_topic_partition_list_t *list =
		kafka_one_partition(topic, 0, 0);
	int64_t until = clock_monotonic_ms() + AWAIT_MS;
	rd_kafka_message_t *m = NULL;

	assert_int_equal(rd_kafka_assign(rk, list), 0);
	rd_kafka_topic_partition_list_destroy(list);
	while (!m && clock_monotonic_ms() < until)
		m = rd_kafka_consumer_poll(rk, 100);
	assert_non_null(m);
	assert_int_equal(m->err, RD_KAFKA_RESP_ERR__PARTITION_EOF);
	return m;
}

static void test_a_client_ends(void **state)
{
	rd_kafka_topic_partition_list_t *list =
		kafka_one_partition(topic, 0, RD_KAFKA_OFFSET_END);
	rd_kafka_t *rk = new_consumer(*state);

	rd_kafka_message_destroy(read_to_end(rk));
	rd_kafka_consumer_close(rk);
	kafka_client_drain(rk, list, AWAIT_MS);
	rd_kafka_topic_partition_list_destroy(list);
	assert_true(kafka_client_destroy(rk, AWAIT_MS));
}

/* librdkafka waits for messages that were not released. */
static void test_a_client_that_does_not_end_is_left(void **state)
{
	rd_kafka_t *rk = new_consumer(*state);
	rd_kafka_message_t *kept = read_to_end(rk);

	rd_kafka_consumer_close(rk);
	assert_false(kafka_client_destroy(rk, 100));
	rd_kafka_message_destroy(kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_client_ends,
						mock_kafka_set_up,
						mock_kafka_tear_down),
		cmocka_unit_test_setup_teardown(
			test_a_client_that_does_not_end_is_left,
			mock_kafka_set_up, mock_kafka_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
