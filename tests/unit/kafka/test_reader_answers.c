/* How a reader handles the brokers' answers, and missing ones. */
#include "tests/unit/kafka/scripted_log.h"

enum {
	SILENCE_MS = 30000,
	WAKE_EVERY = 8192,
	ASK_MS = KAFKA_READER_ASK_MS,
};

/* Opens a stretch of a log with three records. */
static struct kafka_reader *open_reader(void **state)
{
	struct kafka_reader *r = scripted_reader(*state);

	scripted_add(BATCH_READABLE, 10, 12);
	scripted_open(r, 10, 13);
	return r;
}

/* --- a stretch -------------------------------------------------------------
 */

static void silence_fails_after_a_while(void **state)
{
	struct kafka_reader *r = open_reader(state);
	struct error err = {0};

	scripted.silent = true;
	assert_int_equal(mock_reader_next(r, &err), -1);
	assert_int_equal(err.code, ERROR_REMOTE);
	assert_true(err.retriable);
	assert_string_equal(err.text, "kafka: t 3: nothing came for 30 s");
	assert_in_range(scripted.ahead_ms, SILENCE_MS, SILENCE_MS + 1000);
	/* The stretch ends with that error. */
	scripted.silent = false;
	assert_int_equal(mock_reader_next(r, &err), 0);
	kafka_reader_free(r);
}

static void the_complaint_of_before_says_why_nothing_comes(void **state)
{
	struct kafka_reader *r = open_reader(state);
	struct error err = {0};

	scripted.silent = true;
	scripted.event = RD_KAFKA_RESP_ERR_BROKER_NOT_AVAILABLE;
	assert_int_equal(mock_reader_next(r, &err), -1);
	assert_string_equal(err.text, "kafka: t 3: nothing came for 30 s: "
				      "Broker: Broker not available");
	kafka_reader_free(r);
}

static void what_passes_by_itself_is_no_failure(void **state)
{
	struct kafka_reader *r = open_reader(state);
	struct error err = {0};

	scripted.event = RD_KAFKA_RESP_ERR_BROKER_NOT_AVAILABLE;
	assert_int_equal(mock_reader_next(r, &err), 1);
	kafka_reader_free(r);
}

static void what_kafka_has_dropped_is_to_be_looked_at_again(void **state)
{
	struct kafka_reader *r = scripted_reader(*state);
	struct error err = {0};

	scripted_add(BATCH_READABLE, 10, 12);
	scripted_open(r, 7, 13);
	assert_int_equal(mock_reader_next(r, &err), -1);
	assert_int_equal(err.code, ERROR_CONFLICT);
	assert_true(err.retriable);
	assert_string_equal(err.text, "kafka dropped what was to be read of t "
				      "3 from 7 on: look again");
	kafka_reader_free(r);
}

static void what_is_not_there_or_not_allowed_fails_for_good(void **state)
{
	const rd_kafka_resp_err_t codes[] = {
		RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED,
		RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC,
		RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION,
	};

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		struct kafka_reader *r;
		struct error err = {0};

		scripted_clear();
		r = open_reader(state);
		scripted.event = codes[i];
		assert_int_equal(mock_reader_next(r, &err), -1);
		assert_false(err.retriable);
		assert_non_null(strstr(err.text, rd_kafka_err2str(codes[i])));
		kafka_reader_free(r);
	}
}

static void a_stretch_that_cannot_begin_is_not_open(void **state)
{
	struct kafka_reader *r = scripted_reader(*state);
	struct error err = {0};

	scripted_add(BATCH_READABLE, 10, 12);
	scripted.assign = RD_KAFKA_RESP_ERR__STATE;
	assert_int_equal(kafka_reader_open(r, MOCK_KAFKA_TOPIC,
					   SCRIPTED_PARTITION, 10, 13, &err),
			 -1);
	assert_true(err.retriable);
	assert_string_equal(err.text,
			    "kafka: reading of t 3: Local: Erroneous state");
	assert_int_equal(mock_reader_next(r, &err), 0);
	assert_int_equal(scripted.polls, 0);
	kafka_reader_free(r);
}

static void the_last_record_of_a_stretch_is_the_one_before_its_end(void **state)
{
	struct kafka_reader *r = scripted_reader(*state);
	struct error err = {0};

	scripted_add(BATCH_READABLE, 10, 12);
	scripted_open(r, 10, 12);
	assert_int_equal(mock_reader_next(r, &err), 1);
	assert_int_equal(mock_reader_next(r, &err), 1);
	assert_int_equal(scripted.polls, 2);
	assert_int_equal(mock_reader_next(r, &err), 0);
	/* The reader has nothing to wait for. */
	assert_int_equal(scripted.polls, 2);
	assert_int_equal(scripted.unassigns, 1);
	kafka_reader_free(r);
}

/* The stretch ends in a hole. */
static void a_record_beyond_the_end_is_not_given_out(void **state)
{
	struct kafka_reader *r = scripted_reader(*state);
	struct error err = {0};

	scripted_add(BATCH_READABLE, 10, 10);
	scripted_add(BATCH_HOLE, 11, 14);
	scripted_add(BATCH_READABLE, 15, 15);
	scripted_open(r, 10, 15);
	assert_int_equal(mock_reader_next(r, &err), 1);
	assert_int_equal(mock_reader_next(r, &err), 0);
	kafka_reader_free(r);
}

static void another_thread_ends_the_waiting(void **state)
{
	struct kafka_reader *r = open_reader(state);
	atomic_bool stop = true;
	struct error err = {0};

	kafka_reader_stop_when(r, &stop);
	assert_int_equal(mock_reader_next(r, &err), -1);
	assert_int_equal(scripted.polls, 0);
	stop = false;
	scripted_open(r, 10, 13);
	assert_int_equal(mock_reader_next(r, &err), 1);
	kafka_reader_free(r);
}

/* librdkafka checks for free memory only once a second. */
static void a_long_stretch_is_fetched_on(void **state)
{
	struct kafka_reader *r = scripted_reader(*state);
	struct error err = {0};
	unsigned wakes;

	scripted_add(BATCH_READABLE, 0, 3 * WAKE_EVERY);
	scripted_open(r, 0, 2 * WAKE_EVERY + 1);
	wakes = scripted.wakes;
	for (int i = 0; i < 2 * WAKE_EVERY - 1; i++)
		assert_int_equal(mock_reader_next(r, &err), 1);
	assert_int_equal(scripted.wakes, wakes + 1);
	assert_int_equal(mock_reader_next(r, &err), 1);
	assert_int_equal(scripted.wakes, wakes + 2);
	kafka_reader_free(r);
}

/* --- queries ---------------------------------------------------------------
 */

static void the_offset_of_a_time_is_none_behind_the_last_record(void **state)
{
	struct kafka_reader *r = scripted_reader(*state);
	struct error err = {0};
	int64_t offset = 7;

	scripted.offset = 0;
	assert_int_equal(kafka_reader_at(r, MOCK_KAFKA_TOPIC,
					 SCRIPTED_PARTITION, 1000, &offset,
					 &err),
			 0);
	assert_int_equal(offset, 0);
	scripted.offset = RD_KAFKA_OFFSET_END;
	assert_int_equal(kafka_reader_at(r, MOCK_KAFKA_TOPIC,
					 SCRIPTED_PARTITION, 1000, &offset,
					 &err),
			 0);
	assert_int_equal(offset, -1);
	scripted.at_time = RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE;
	assert_int_equal(kafka_reader_at(r, MOCK_KAFKA_TOPIC,
					 SCRIPTED_PARTITION, 1000, &offset,
					 &err),
			 -1);
	assert_true(err.retriable);
	assert_string_equal(
		err.text,
		"kafka: offset at a time of t 3: Broker: Leader not available");
	kafka_reader_free(r);
}

static void the_bounds_are_the_brokers(void **state)
{
	struct kafka_reader *r = scripted_reader(*state);
	struct error err = {0};
	int64_t low = 1, high = 1;

	scripted_add(BATCH_READABLE, 10, 12);
	scripted.bounds = RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE;
	assert_int_equal(kafka_reader_bounds(r, MOCK_KAFKA_TOPIC,
					     SCRIPTED_PARTITION, &low, &high,
					     &err),
			 -1);
	assert_int_equal(low + high, 2);
	scripted.bounds = 0;
	assert_int_equal(kafka_reader_bounds(r, MOCK_KAFKA_TOPIC,
					     SCRIPTED_PARTITION, &low, &high,
					     &err),
			 0);
	assert_int_equal(low, 10);
	assert_int_equal(high, 13);
	kafka_reader_free(r);
}

/* The complaint names the broker, and its fault. */
static void
a_question_without_an_answer_says_what_kafka_complained_of(void **state)
{
	struct kafka_reader *r = scripted_reader(*state);
	struct error err = {0};
	int64_t low, high;

	scripted_add(BATCH_READABLE, 10, 12);
	scripted_open(r, 10, 13);
	scripted.silent = true;
	scripted.event = RD_KAFKA_RESP_ERR_BROKER_NOT_AVAILABLE;
	assert_int_equal(mock_reader_next(r, &err), -1);
	scripted.bounds = RD_KAFKA_RESP_ERR__TIMED_OUT;
	assert_int_equal(kafka_reader_bounds(r, MOCK_KAFKA_TOPIC,
					     SCRIPTED_PARTITION, &low, &high,
					     &err),
			 -1);
	assert_string_equal(err.text, "kafka: Broker: Broker not available");
	kafka_reader_free(r);
}

static void a_group_without_a_coordinator_is_asked_again(void **state)
{
	struct kafka_reader *r = scripted_reader(*state);
	struct kafka_committed committed;
	struct error err = {0};

	scripted.offset = 77;
	scripted.committed_passes = 3;
	assert_int_equal(kafka_reader_commit(r, MOCK_KAFKA_TOPIC,
					     SCRIPTED_PARTITION, &committed,
					     &err),
			 0);
	assert_int_equal(committed.offset, 77);
	assert_int_equal(scripted.pauses, 3);
	kafka_reader_free(r);
}

static void but_not_for_ever(void **state)
{
	struct kafka_reader *r = scripted_reader(*state);
	struct kafka_committed committed;
	struct error err = {0};

	scripted.committed_passes = UINT32_MAX;
	assert_int_equal(kafka_reader_commit(r, MOCK_KAFKA_TOPIC,
					     SCRIPTED_PARTITION, &committed,
					     &err),
			 -1);
	assert_true(err.retriable);
	assert_in_range(scripted.ahead_ms, ASK_MS, ASK_MS + 1000);
	kafka_reader_free(r);
}

static void what_does_not_pass_is_not_asked_again(void **state)
{
	struct kafka_reader *r = scripted_reader(*state);
	struct kafka_committed committed;
	struct error err = {0};

	scripted.committed = RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED;
	assert_int_equal(kafka_reader_commit(r, MOCK_KAFKA_TOPIC,
					     SCRIPTED_PARTITION, &committed,
					     &err),
			 -1);
	assert_int_equal(scripted.pauses, 0);
	kafka_reader_free(r);
}

static void nothing_committed_is_no_offset(void **state)
{
	struct kafka_reader *r = scripted_reader(*state);
	struct kafka_committed committed;
	struct error err = {0};

	scripted.offset = RD_KAFKA_OFFSET_INVALID;
	assert_int_equal(kafka_reader_commit(r, MOCK_KAFKA_TOPIC,
					     SCRIPTED_PARTITION, &committed,
					     &err),
			 0);
	assert_int_equal(committed.offset, -1);
	kafka_reader_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRIPTED_TEST(silence_fails_after_a_while),
		SCRIPTED_TEST(the_complaint_of_before_says_why_nothing_comes),
		SCRIPTED_TEST(what_passes_by_itself_is_no_failure),
		SCRIPTED_TEST(what_kafka_has_dropped_is_to_be_looked_at_again),
		SCRIPTED_TEST(what_is_not_there_or_not_allowed_fails_for_good),
		SCRIPTED_TEST(a_stretch_that_cannot_begin_is_not_open),
		SCRIPTED_TEST(
			the_last_record_of_a_stretch_is_the_one_before_its_end),
		SCRIPTED_TEST(a_record_beyond_the_end_is_not_given_out),
		SCRIPTED_TEST(another_thread_ends_the_waiting),
		SCRIPTED_TEST(a_long_stretch_is_fetched_on),
		SCRIPTED_TEST(
			the_offset_of_a_time_is_none_behind_the_last_record),
		SCRIPTED_TEST(the_bounds_are_the_brokers),
		SCRIPTED_TEST(
			a_question_without_an_answer_says_what_kafka_complained_of),
		SCRIPTED_TEST(a_group_without_a_coordinator_is_asked_again),
		SCRIPTED_TEST(but_not_for_ever),
		SCRIPTED_TEST(what_does_not_pass_is_not_asked_again),
		SCRIPTED_TEST(nothing_committed_is_no_offset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
