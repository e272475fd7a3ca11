/* The end of a librdkafka client.  The broker is librdkafka's own mock, in this
 * process. */
#include "tests/unit/unit.h"

#include "common/clock.h"
#include "common/kafka/ending.h"
#include "common/kafka/kafka.h"

/* Wants librdkafka's own before it. */
#include <librdkafka/rdkafka_mock.h>

enum {
	AWAIT_MS = 60000,
};

static const char topic[] = "t";

struct world {
	rd_kafka_t *host;
	rd_kafka_mock_cluster_t *mock;
};

static int make_world(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	char text[256];

	w->host = rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), text,
			       sizeof(text));
	assert_non_null(w->host);
	w->mock = rd_kafka_mock_cluster_new(w->host, 1);
	assert_non_null(w->mock);
	rd_kafka_mock_topic_create(w->mock, topic, 1, 1);
	*state = w;
	return 0;
}

static int drop_world(void **state)
{
	struct world *w = *state;

	rd_kafka_mock_cluster_destroy(w->mock);
	rd_kafka_destroy(w->host);
	free(w);
	return 0;
}

static rd_kafka_t *new_consumer(struct world *w)
{
	const char *const properties[][2] = {
		{"bootstrap.servers",
		 rd_kafka_mock_cluster_bootstraps(w->mock)},
		{"group.id", "g"},
		{"enable.auto.commit", "false"},
		{"auto.offset.reset", "error"},
		{"enable.partition.eof", "true"},
		{"fetch.wait.max.ms", "10"},
	};
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	char text[256];
	rd_kafka_t *rk;

	rd_kafka_conf_set_log_cb(conf, NULL);
	for (size_t i = 0; i < sizeof(properties) / sizeof(*properties); i++)
		assert_int_equal(rd_kafka_conf_set(conf, properties[i][0],
						   properties[i][1], text,
						   sizeof(text)),
				 RD_KAFKA_CONF_OK);
	rk = rd_kafka_new(RD_KAFKA_CONSUMER, conf, text, sizeof(text));
	assert_non_null(rk);
	rd_kafka_poll_set_consumer(rk);
	return rk;
}

/* The message that says so, whoever asked for it gives it back. */
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
	rd_kafka_t *rk = new_consumer(*state);

	rd_kafka_message_destroy(read_to_end(rk));
	rd_kafka_consumer_close(rk);
	kafka_client_drain(rk, topic, 0, AWAIT_MS);
	assert_true(kafka_client_destroy(rk, AWAIT_MS));
}

/* librdkafka waits for what was not given back. */
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
		cmocka_unit_test_setup_teardown(test_a_client_ends, make_world,
						drop_world),
		cmocka_unit_test_setup_teardown(
			test_a_client_that_does_not_end_is_left, make_world,
			drop_world),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
