/* A reader of stretches of a topic.  The broker is librdkafka's own mock, in
 * this process. */
#include "tests/unit/kafka/mock_reader.h"

enum {
	RECORDS = 3,
	READERS = 10,
	AWAIT_MS = 60000,
};

static const char topic[] = MOCK_KAFKA_TOPIC;

/* The mock broker does not answer queries about a topic's settings. */
rd_kafka_event_t *rd_kafka_queue_poll(rd_kafka_queue_t *queue, int timeout_ms)
{
	(void)queue;
	(void)timeout_ms;
	return NULL;
}

static void produce_records(rd_kafka_mock_cluster_t *mock)
{
	rd_kafka_t *rk = mock_kafka_producer(mock);
	char value[] = "x";

	for (int i = 0; i < RECORDS; i++)
		assert_int_equal(rd_kafka_producev(rk, RD_KAFKA_V_TOPIC(topic),
						   RD_KAFKA_V_PARTITION(0),
						   RD_KAFKA_V_VALUE(value, 1),
						   RD_KAFKA_V_END),
				 0);
	assert_int_equal(rd_kafka_flush(rk, AWAIT_MS), 0);
	rd_kafka_destroy(rk);
}

static int start_kafka(void **state)
{
	mock_kafka_set_up(state);
	produce_records(*state);
	return 0;
}

static void open_stretch(struct kafka_reader *r)
{
	struct error err = {0};

	if (kafka_reader_open(r, topic, 0, 0, RECORDS, &err) < 0)
		fail_msg("%s", err.text);
}

static void test_records_of_a_stretch_come_in_order(void **state)
{
	struct kafka_reader *r = mock_reader_new(*state);
	struct kafka_record record;
	struct error err = {0};

	open_stretch(r);
	for (int i = 0; i < RECORDS; i++)
		mock_reader_take(r, i);
	assert_int_equal(kafka_reader_next(r, &record, &err), 0);
	kafka_reader_free(r);
}

/* librdkafka 2.0 aborts the process in this case. */
static void
test_a_reader_that_has_just_gone_elsewhere_can_be_closed(void **state)
{
	for (int i = 0; i < READERS; i++) {
		struct kafka_reader *r = mock_reader_new(*state);

		open_stretch(r);
		mock_reader_take(r, 0);
		open_stretch(r);
		kafka_reader_free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_records_of_a_stretch_come_in_order, start_kafka,
			mock_kafka_tear_down),
		cmocka_unit_test_setup_teardown(
			test_a_reader_that_has_just_gone_elsewhere_can_be_closed,
			start_kafka, mock_kafka_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
