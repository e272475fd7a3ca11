/* The clients of a reader: when each is made, and what is awaited before one is
 * closed. */
#include "tests/unit/kafka/scripted_log.h"

static void open_topic(struct kafka_reader *r, const char *topic)
{
	struct error err = {0};

	if (kafka_reader_open(r, topic, SCRIPTED_PARTITION, 10, 13, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(mock_reader_next(r, &err), 1);
}

/* --- by the unpacked size of a topic's batches -----------------------------
 */

static void a_topic_is_asked_for_its_limits_once(void **state)
{
	struct kafka_reader *r = scripted_reader(*state);

	scripted_add(BATCH_READABLE, 10, 12);
	open_topic(r, "t");
	open_topic(r, "t");
	assert_int_equal(scripted.limits, 1);
	open_topic(r, "u");
	assert_int_equal(scripted.limits, 2);
	/* One batch is fetched at a time, since its unpacked size has no limit.
	 */
	assert_int_equal(scripted.clients, 1);
	assert_string_equal(scripted.fetch_bytes, "1");
	kafka_reader_free(r);
}

static void a_topic_whose_compression_is_bounded_is_asked_for_much(void **state)
{
	struct kafka_reader *r = scripted_reader(*state);

	scripted_add(BATCH_READABLE, 10, 12);
	scripted.compression = "lz4";
	open_topic(r, "t");
	assert_int_equal(scripted.clients, 2);
	assert_string_equal(scripted.fetch_bytes, "262144");
	open_topic(r, "u");
	assert_int_equal(scripted.clients, 2);
	/* The producer chooses the compression. */
	scripted.compression = "producer";
	open_topic(r, "v");
	assert_int_equal(scripted.clients, 3);
	assert_string_equal(scripted.fetch_bytes, "1");
	assert_int_equal(scripted.closed, 2);
	kafka_reader_free(r);
}

/* --- a client that has met a wrong checksum --------------------------------
 */

static void it_is_not_used_again(void **state)
{
	struct kafka_reader *r = scripted_reader(*state);
	struct error err = {0};

	scripted_add(BATCH_CORRUPT, 10, 11);
	scripted_add(BATCH_READABLE, 12, 12);
	scripted.compression = "lz4";
	scripted_open(r, 10, 13);
	assert_int_equal(mock_reader_next(r, &err), 1);
	assert_true(scripted.spent != NULL);
	assert_string_equal(scripted.fetch_bytes, "262144");
	/* Its requests are answered before it is destroyed. */
	assert_true(scripted.drains_closed >= 1);
	assert_int_equal(scripted.closed + 1, scripted.clients);
	kafka_reader_free(r);
}

static void one_that_met_none_is_not_drained_once_it_is_closed(void **state)
{
	struct kafka_reader *r = scripted_reader(*state);
	struct error err = {0};

	scripted_add(BATCH_READABLE, 10, 12);
	scripted_open(r, 10, 13);
	assert_int_equal(mock_reader_next(r, &err), 1);
	kafka_reader_free(r);
	assert_int_equal(scripted.closed, 1);
	assert_int_equal(scripted.drains_closed, 0);
}

static void nor_is_it_for_another_topic(void **state)
{
	struct kafka_reader *r = scripted_reader(*state);
	struct error err = {0};

	scripted_add(BATCH_CORRUPT, 10, 11);
	scripted_add(BATCH_READABLE, 12, 12);
	scripted_open(r, 10, 11);
	assert_int_equal(mock_reader_next(r, &err), 0);
	scripted_clear();
	scripted_add(BATCH_READABLE, 10, 12);
	open_topic(r, "u");
	kafka_reader_free(r);
}

/* --- a client that cannot be made ------------------------------------------
 */

static void without_a_client_there_is_no_reader(void **state)
{
	struct mock_kafka_config made;
	struct error err = {0};

	mock_kafka_configure(*state, &made);
	scripted.refuses_clients = true;
	assert_null(kafka_reader_new(&made.config, "test", "g", &err));
	assert_int_equal(err.code, ERROR_CONFIG);
	assert_string_equal(err.text, "kafka: no more threads");
}

static void without_another_client_nothing_is_opened(void **state)
{
	struct kafka_reader *r = scripted_reader(*state);
	struct error err = {0};

	scripted_add(BATCH_READABLE, 10, 12);
	scripted.compression = "lz4";
	scripted.refuses_clients = true;
	assert_int_equal(
		kafka_reader_open(r, "t", SCRIPTED_PARTITION, 10, 13, &err),
		-1);
	assert_string_equal(err.text, "kafka: no more threads");
	assert_int_equal(scripted.assigns, 0);
	assert_int_equal(mock_reader_next(r, &err), 0);
	/* The next attempt makes it. */
	scripted.refuses_clients = false;
	open_topic(r, "t");
	assert_string_equal(scripted.fetch_bytes, "262144");
	kafka_reader_free(r);
}

static void
without_another_client_no_wrong_checksum_is_passed_over(void **state)
{
	struct kafka_reader *r = scripted_reader(*state);
	struct error err = {0};

	scripted_add(BATCH_CORRUPT, 10, 11);
	scripted_add(BATCH_READABLE, 12, 12);
	scripted_open(r, 10, 13);
	scripted.refuses_clients = true;
	assert_int_equal(mock_reader_next(r, &err), -1);
	assert_string_equal(err.text, "kafka: no more threads");
	/* The former client is not used for another topic either. */
	assert_int_equal(
		kafka_reader_open(r, "u", SCRIPTED_PARTITION, 10, 13, &err),
		-1);
	assert_int_equal(scripted.limits, 1);
	kafka_reader_free(r);
}

/* --- a stretch that has just begun -----------------------------------------
 */

/* librdkafka 2.0 aborts the process otherwise. */
static void what_was_assigned_is_answered_before_another_is(void **state)
{
	struct kafka_reader *r = scripted_reader(*state);
	struct error err = {0};

	scripted_add(BATCH_READABLE, 10, 12);
	scripted_open(r, 10, 13);
	assert_int_equal(scripted.drains, 0);
	scripted_open(r, 11, 13);
	assert_int_equal(scripted.drains, 1);
	assert_int_equal(mock_reader_next(r, &err), 1);
	scripted_open(r, 10, 13);
	assert_int_equal(scripted.drains, 1);
	/* An empty stretch assigns nothing. */
	scripted_open(r, 13, 13);
	assert_int_equal(scripted.drains, 2);
	scripted_open(r, 10, 13);
	assert_int_equal(scripted.drains, 2);
	kafka_reader_free(r);
	assert_int_equal(scripted.drains, 3);
}

/* --- complaints ------------------------------------------------------------
 */

static int ask_bounds(struct kafka_reader *r, struct error *err)
{
	int64_t low, high;

	return kafka_reader_bounds(r, MOCK_KAFKA_TOPIC, 0, &low, &high, err);
}

static void silence_is_explained_by_what_librdkafka_complains_of(void **state)
{
	const rd_kafka_resp_err_t silent[] = {
		RD_KAFKA_RESP_ERR__TIMED_OUT,
		RD_KAFKA_RESP_ERR__TRANSPORT,
		RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN,
	};

	for (size_t i = 0; i < sizeof(silent) / sizeof(silent[0]); i++) {
		struct kafka_reader *r;
		struct error err = {0};

		scripted_clear();
		scripted_add(BATCH_READABLE, 10, 12);
		r = scripted_reader(*state);
		scripted.bounds = silent[i];
		scripted.complaint = "b:9092: connection refused";
		assert_int_equal(ask_bounds(r, &err), -1);
		assert_string_equal(err.text,
				    "kafka: b:9092: connection refused");
		/* Any other answer is reported as it is. */
		scripted.bounds = RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE;
		assert_int_equal(ask_bounds(r, &err), -1);
		assert_string_equal(err.text, "kafka: start and end of t 0: "
					      "Broker: Leader not available");
		kafka_reader_free(r);
	}
}

static void without_a_complaint_it_is_named(void **state)
{
	struct kafka_reader *r = scripted_reader(*state);
	struct error err = {0};

	scripted_add(BATCH_READABLE, 10, 12);
	scripted.bounds = RD_KAFKA_RESP_ERR__TIMED_OUT;
	assert_int_equal(ask_bounds(r, &err), -1);
	assert_string_equal(err.text,
			    "kafka: start and end of t 0: Local: Timed out");
	kafka_reader_free(r);
}

/* A poll within a stretch could return a record instead of a complaint. */
static void complaints_are_not_polled_for_within_a_stretch(void **state)
{
	struct kafka_reader *r = scripted_reader(*state);
	struct error err = {0};

	scripted_add(BATCH_READABLE, 10, 12);
	scripted_open(r, 10, 13);
	scripted.bounds = RD_KAFKA_RESP_ERR__TIMED_OUT;
	assert_int_equal(ask_bounds(r, &err), -1);
	assert_int_equal(scripted.polls, 0);
	kafka_reader_free(r);
}

static void a_long_complaint_is_cut(void **state)
{
	struct kafka_reader *r = scripted_reader(*state);
	struct error err = {0};
	char text[400];

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	scripted_add(BATCH_READABLE, 10, 12);
	scripted.bounds = RD_KAFKA_RESP_ERR__TIMED_OUT;
	scripted.complaint = text;
	assert_int_equal(ask_bounds(r, &err), -1);
	assert_int_equal(strlen(err.text), strlen("kafka: ") + 255);
	kafka_reader_free(r);
}

static void a_topic_that_there_is_not_has_no_partitions(void **state)
{
	const struct {
		rd_kafka_resp_err_t code;
		enum error_code error;
		const char *text;
	} answers[] = {
		{RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, ERROR_NOTFOUND,
		 "kafka has no topic 't'"},
		{RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC, ERROR_NOTFOUND,
		 "kafka has no topic 't'"},
		{RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE, ERROR_REMOTE,
		 "kafka: partitions of t: Broker: Leader not available"},
	};
	struct kafka_reader *r = scripted_reader(*state);
	struct error err = {0};
	uint32_t count = 7;

	for (size_t i = 0; i < 3; i++) {
		scripted.metadata = answers[i].code;
		assert_int_equal(kafka_reader_partitions(r, "t", &count, &err),
				 -1);
		assert_int_equal(err.code, answers[i].error);
		assert_string_equal(err.text, answers[i].text);
	}
	assert_int_equal(count, 7);
	scripted.metadata = 0;
	assert_int_equal(kafka_reader_partitions(r, "t", &count, &err), 0);
	assert_int_equal(count, 1);
	kafka_reader_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRIPTED_TEST(a_topic_is_asked_for_its_limits_once),
		SCRIPTED_TEST(
			a_topic_whose_compression_is_bounded_is_asked_for_much),
		SCRIPTED_TEST(it_is_not_used_again),
		SCRIPTED_TEST(
			one_that_met_none_is_not_drained_once_it_is_closed),
		SCRIPTED_TEST(nor_is_it_for_another_topic),
		SCRIPTED_TEST(without_a_client_there_is_no_reader),
		SCRIPTED_TEST(without_another_client_nothing_is_opened),
		SCRIPTED_TEST(
			without_another_client_no_wrong_checksum_is_passed_over),
		SCRIPTED_TEST(what_was_assigned_is_answered_before_another_is),
		SCRIPTED_TEST(
			silence_is_explained_by_what_librdkafka_complains_of),
		SCRIPTED_TEST(without_a_complaint_it_is_named),
		SCRIPTED_TEST(complaints_are_not_polled_for_within_a_stretch),
		SCRIPTED_TEST(a_long_complaint_is_cut),
		SCRIPTED_TEST(a_topic_that_there_is_not_has_no_partitions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
