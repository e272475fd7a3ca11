/* A reader of new records of a topic.  The broker is librdkafka's own mock, in
 * this process. */
#include "tests/unit/mock_kafka.h"
#include "tests/unit/unit.h"

#include "common/kafka/tail.h"

enum {
	TAILS = 10,
};

static const char topic[] = MOCK_KAFKA_TOPIC;

static struct kafka_tail *new_tail(rd_kafka_mock_cluster_t *mock)
{
	struct mock_kafka_config made;
	struct error err = {0};
	struct kafka_tail *t;

	mock_kafka_configure(mock, &made);
	t = kafka_tail_new(&made.config, "test", topic, &err);
	if (!t)
		fail_msg("%s", err.text);
	return t;
}

static void open_tail(struct kafka_tail *t)
{
	struct error err = {0};

	if (kafka_tail_open(t, &err) < 0)
		fail_msg("%s", err.text);
}

/* librdkafka 2.0 aborts the process if this is done at once. */
static void test_a_tail_that_was_just_opened_again_can_be_freed(void **state)
{
	for (int i = 0; i < TAILS; i++) {
		struct kafka_tail *t = new_tail(*state);
		struct kafka_record record;
		struct error err = {0};

		open_tail(t);
		assert_int_equal(kafka_tail_next(t, 100, &record, &err), 0);
		if (i % 2)
			kafka_tail_close(t);
		open_tail(t);
		kafka_tail_free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_a_tail_that_was_just_opened_again_can_be_freed,
			mock_kafka_set_up, mock_kafka_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
