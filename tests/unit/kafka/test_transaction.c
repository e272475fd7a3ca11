/* Messages that readers see all or none of.  The broker is librdkafka's own
 * mock, in this process; a test sets its failures. */
#include "tests/unit/mock_kafka.h"
#include "tests/unit/unit.h"

#include "common/kafka/transaction.h"

/* Requests by their numbers in Kafka's protocol. */
enum {
	PRODUCE = 0,
	INIT_PRODUCER_ID = 22,
	END_TXN = 26,
};

static const char topic[] = "t";

struct world {
	rd_kafka_mock_cluster_t *mock;
	struct mock_kafka_config kafka;
	struct kafka_transaction *t;
	struct error err;
};

static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->mock = mock_kafka_start(topic);
	mock_kafka_configure(w->mock, &w->kafka);
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	kafka_transaction_free(w->t);
	mock_kafka_stop(w->mock);
	free(w);
	return 0;
}

static void open_transaction(struct world *w)
{
	w->t = kafka_transaction_new(&w->kafka.config, "id", &w->err);
	if (!w->t)
		fail_msg("%s", w->err.text);
}

static int put_message(struct world *w, const char *text)
{
	const struct kafka_header header = {"why", "so"};
	const struct kafka_message m = {
		.topic = topic,
		.partition = -1,
		.key = "k",
		.key_len = 1,
		.payload = text,
		.len = strlen(text),
		.headers = &header,
		.header_count = 1,
	};

	return kafka_transaction_put(w->t, &m, &w->err);
}

static void begin_and_put(struct world *w)
{
	if (kafka_transaction_begin(w->t, &w->err) < 0 ||
	    put_message(w, "a") < 0 || put_message(w, "b") < 0)
		fail_msg("%s", w->err.text);
}

static int commit_transaction(struct world *w)
{
	w->err = (struct error){0};
	return kafka_transaction_commit(w->t, &w->err);
}

static void fail_next(struct world *w, int request, rd_kafka_resp_err_t code)
{
	rd_kafka_mock_push_request_errors(w->mock, (int16_t)request, 1, code);
}

static void one_after_the_other_is_committed(void **state)
{
	struct world *w = *state;

	open_transaction(w);
	for (int i = 0; i < 3; i++) {
		begin_and_put(w);
		assert_int_equal(commit_transaction(w), 0);
	}
	begin_and_put(w); /* the free aborts the transaction */
}

static void one_that_was_overtaken_has_a_conflict(void **state)
{
	static const rd_kafka_resp_err_t codes[] = {
		RD_KAFKA_RESP_ERR_PRODUCER_FENCED,
		RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH,
	};
	struct world *w = *state;

	for (size_t i = 0; i < 2; i++) {
		open_transaction(w);
		begin_and_put(w);
		fail_next(w, END_TXN, codes[i]);
		assert_int_equal(commit_transaction(w), -1);
		assert_int_equal(w->err.code, ERROR_CONFLICT);
		assert_false(w->err.retriable);
		kafka_transaction_free(w->t);
		w->t = NULL;
	}
}

static void the_reason_is_that_of_the_message_that_failed(void **state)
{
	struct world *w = *state;

	open_transaction(w);
	fail_next(w, PRODUCE, RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE);
	begin_and_put(w);
	assert_int_equal(commit_transaction(w), -1);
	assert_int_equal(w->err.code, ERROR_REMOTE);
	assert_false(w->err.retriable);
	assert_string_equal(w->err.text,
			    "kafka: topic t: Broker: Message size too large");
}

static void a_commit_that_may_be_repeated_is(void **state)
{
	struct world *w = *state;

	open_transaction(w);
	begin_and_put(w);
	fail_next(w, END_TXN, RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS);
	assert_int_equal(commit_transaction(w), 0);
}

static void a_commit_that_is_refused_is_not_repeated(void **state)
{
	struct world *w = *state;

	open_transaction(w);
	begin_and_put(w);
	fail_next(w, END_TXN,
		  RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED);
	assert_int_equal(commit_transaction(w), -1);
	assert_int_equal(w->err.code, ERROR_REMOTE);
	assert_false(w->err.retriable);
}

static void who_may_not_begin_has_none(void **state)
{
	struct world *w = *state;

	fail_next(w, INIT_PRODUCER_ID,
		  RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED);
	w->t = kafka_transaction_new(&w->kafka.config, "id", &w->err);
	assert_null(w->t);
	assert_int_equal(w->err.code, ERROR_REMOTE);
	assert_false(w->err.retriable);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(one_after_the_other_is_committed),
		TEST(one_that_was_overtaken_has_a_conflict),
		TEST(the_reason_is_that_of_the_message_that_failed),
		TEST(a_commit_that_may_be_repeated_is),
		TEST(a_commit_that_is_refused_is_not_repeated),
		TEST(who_may_not_begin_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
