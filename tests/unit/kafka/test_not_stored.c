#include "tests/unit/unit.h"

#include "common/kafka/not_stored.h"

static bool is_certain(rd_kafka_resp_err_t code, rd_kafka_msg_status_t status)
{
	return kafka_certainly_not_stored(code, status);
}

/* If the status means "possibly stored", no error code can prove the opposite.
 */
static void check_all(const rd_kafka_resp_err_t *codes, size_t count,
		      bool certain)
{
	for (size_t i = 0; i < count; i++) {
		const char *name = rd_kafka_err2name(codes[i]);

		if (is_certain(codes[i], RD_KAFKA_MSG_STATUS_NOT_PERSISTED) !=
		    certain)
			fail_msg("%s: not %d", name, certain);
		if (is_certain(codes[i],
			       RD_KAFKA_MSG_STATUS_POSSIBLY_PERSISTED))
			fail_msg("%s: certain in spite of its status", name);
	}
}

static void a_local_error_is_as_librdkafkas_status_says(void **state)
{
	static const rd_kafka_resp_err_t codes[] = {
		RD_KAFKA_RESP_ERR__PURGE_INFLIGHT,
		RD_KAFKA_RESP_ERR__TRANSPORT,
		RD_KAFKA_RESP_ERR__BAD_MSG,
		RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET,
		RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC,
		RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION,
		RD_KAFKA_RESP_ERR__FATAL,
	};

	(void)state;
	check_all(codes, sizeof(codes) / sizeof(codes[0]), true);
}

static void an_answer_that_cannot_be_read_says_nothing(void **state)
{
	static const rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR__UNDERFLOW;

	(void)state;
	check_all(&code, 1, false);
}

static void what_was_to_be_tried_again_may_be_stored(void **state)
{
	static const rd_kafka_resp_err_t codes[] = {
		RD_KAFKA_RESP_ERR__MSG_TIMED_OUT,
		RD_KAFKA_RESP_ERR__PURGE_QUEUE,
	};

	(void)state;
	check_all(codes, sizeof(codes) / sizeof(codes[0]), false);
}

static void what_a_broker_checks_before_it_appends_is_certain(void **state)
{
	static const rd_kafka_resp_err_t codes[] = {
		RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED,
		RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED,
		RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART,
		RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION,
		RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE,
		RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE,
		RD_KAFKA_RESP_ERR_INVALID_MSG,
		RD_KAFKA_RESP_ERR_INVALID_RECORD,
		RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP,
		RD_KAFKA_RESP_ERR_INVALID_REQUIRED_ACKS,
		RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS,
		RD_KAFKA_RESP_ERR_UNSUPPORTED_FOR_MESSAGE_FORMAT,
		RD_KAFKA_RESP_ERR_UNSUPPORTED_COMPRESSION_TYPE,
		RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH,
	};

	(void)state;
	check_all(codes, sizeof(codes) / sizeof(codes[0]), true);
}

static void any_other_answer_of_a_broker_may_come_after_it(void **state)
{
	static const rd_kafka_resp_err_t codes[] = {
		RD_KAFKA_RESP_ERR_UNKNOWN,
		RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT,
		RD_KAFKA_RESP_ERR_NETWORK_EXCEPTION,
		RD_KAFKA_RESP_ERR_INVALID_REQUEST,
		RD_KAFKA_RESP_ERR_LISTENER_NOT_FOUND,
		RD_KAFKA_RESP_ERR_THROTTLING_QUOTA_EXCEEDED,
		RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
		RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR,
		RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND,
		RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER,
		RD_KAFKA_RESP_ERR_UNKNOWN_PRODUCER_ID,
		(rd_kafka_resp_err_t)12345,
	};

	(void)state;
	check_all(codes, sizeof(codes) / sizeof(codes[0]), false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_local_error_is_as_librdkafkas_status_says),
		cmocka_unit_test(an_answer_that_cannot_be_read_says_nothing),
		cmocka_unit_test(what_was_to_be_tried_again_may_be_stored),
		cmocka_unit_test(
			what_a_broker_checks_before_it_appends_is_certain),
		cmocka_unit_test(
			any_other_answer_of_a_broker_may_come_after_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
