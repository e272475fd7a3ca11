/* Tests of a producer that need no broker: no server listens at the port that
 * they use.  Where a broker answers, it is librdkafka's mock. */
#include "tests/unit/mock_kafka.h"
#include "tests/unit/unit.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "common/kafka/producer.h"

static char broker[] = "127.0.0.1:1";
static char *brokers[] = {broker};
static const struct kafka_config nobody = {
	.brokers = {.items = brokers, .count = 1},
	.queue_messages = 3,
	.queue_bytes = 1 << 20,
};

struct seen {
	atomic_int failures, certain, states_down;
	char reason[256];
	const void *payload; /* the last failure reported to on_failure */
	size_t len;
};

static void on_delivery(void *arg, void *opaque, const struct error *err)
{
	struct seen *seen = arg;

	(void)opaque;
	if (!err)
		return;
	atomic_fetch_add(&seen->failures, 1);
	if (err->retriable)
		atomic_fetch_add(&seen->certain, 1);
}

static void on_failure(void *arg, void *opaque, const void *payload, size_t len,
		       const struct error *err)
{
	struct seen *seen = arg;

	on_delivery(arg, opaque, err);
	seen->payload = payload;
	seen->len = len;
}

static void on_state(void *arg, bool up, const char *reason)
{
	struct seen *seen = arg;

	if (up)
		return;
	if (atomic_load(&seen->states_down) == 0)
		strncpy(seen->reason, reason, sizeof(seen->reason) - 1);
	atomic_fetch_add(&seen->states_down, 1);
}

static struct kafka_producer *open_at(const struct kafka_config *config,
				      struct seen *seen,
				      kafka_failure_fn *failure)
{
	struct error err = {0};
	struct kafka_producer_options options = {
		.client_id = "test",
		.topic = "t",
		.compression = "lz4",
		.linger = 5,
		.delivery_timeout = 60000,
		.on_delivery = on_delivery,
		.on_failure = failure,
		.on_state = on_state,
		.arg = seen,
	};

	return kafka_producer_new(config, &options, NULL, &err);
}

static struct kafka_producer *open_told(struct seen *seen,
					kafka_failure_fn *failure)
{
	return open_at(&nobody, seen, failure);
}

static struct kafka_producer *open_producer(struct seen *seen)
{
	return open_told(seen, NULL);
}

static int produce_message(struct kafka_producer *p, struct error *err)
{
	return kafka_produce(p, "k", 1, "payload", 7, NULL, err);
}

static void an_unknown_option_is_a_config_error_that_names_it(void **state)
{
	char option[] = "no.such.thing=1", *options[] = {option};
	struct kafka_config config = nobody;
	struct error err = {0};

	(void)state;
	config.options = (struct setting_strings){options, 1};
	assert_null(kafka_conf_new(&config, "test", &err));
	assert_int_equal(err.code, ERROR_CONFIG);
	assert_non_null(strstr(err.text, "no.such.thing"));
}

static void an_option_without_a_value_is_a_config_error(void **state)
{
	char option[] = "linger.ms", *options[] = {option};
	struct kafka_config config = nobody;
	struct error err = {0};

	(void)state;
	config.options = (struct setting_strings){options, 1};
	assert_null(kafka_conf_new(&config, "test", &err));
	assert_int_equal(err.code, ERROR_CONFIG);
}

static void all_brokers_are_passed_on(void **state)
{
	char a[] = "a:1", b[] = "b:2", *two[] = {a, b};
	struct kafka_config config = nobody;
	struct error err = {0};
	char value[64] = "";
	size_t size = sizeof(value);
	rd_kafka_conf_t *conf;

	(void)state;
	config.brokers = (struct setting_strings){two, 2};
	conf = kafka_conf_new(&config, "test", &err);
	assert_non_null(conf);
	rd_kafka_conf_get(conf, "bootstrap.servers", value, &size);
	assert_string_equal(value, "a:1,b:2");
	rd_kafka_conf_destroy(conf);
}

static void no_broker_named_is_a_config_error(void **state)
{
	struct kafka_config config = {0};
	struct error err = {0};

	(void)state;
	assert_null(kafka_conf_new(&config, "test", &err));
	assert_int_equal(err.code, ERROR_CONFIG);
}

static void a_full_queue_is_busy_and_retriable(void **state)
{
	struct seen seen = {0};
	struct error err = {0};
	struct kafka_producer *p = open_producer(&seen);

	(void)state;
	assert_non_null(p);
	for (int i = 0; i < 3; i++)
		assert_int_equal(produce_message(p, &err), 0);
	assert_int_equal(produce_message(p, &err), -1);
	assert_int_equal(err.code, ERROR_FULL);
	assert_true(err.retriable);
	kafka_producer_free(p);
}

static void freeing_reports_each_message_as_perhaps_stored(void **state)
{
	struct seen seen = {0};
	struct error err = {0};
	struct kafka_producer *p = open_producer(&seen);

	(void)state;
	assert_non_null(p);
	for (int i = 0; i < 3; i++)
		produce_message(p, &err);
	kafka_producer_free(p);
	assert_int_equal(atomic_load(&seen.failures), 3);
	assert_int_equal(atomic_load(&seen.certain), 0);
}

static void a_message_in_place_is_told_of_where_it_stands(void **state)
{
	static const char event[] = "where it stands";
	struct seen seen = {0};
	struct error err = {0};
	struct kafka_producer *p = open_told(&seen, on_failure);

	(void)state;
	assert_non_null(p);
	assert_int_equal(
		kafka_produce_in_place(p, event, sizeof(event), NULL, &err), 0);
	kafka_producer_free(p);
	assert_int_equal(atomic_load(&seen.failures), 1);
	assert_ptr_equal(seen.payload, event);
	assert_int_equal(seen.len, sizeof(event));
}

static void a_flush_that_cannot_end_says_how_many_remain(void **state)
{
	struct seen seen = {0};
	struct error err = {0};
	struct kafka_producer *p = open_producer(&seen);

	(void)state;
	assert_non_null(p);
	produce_message(p, &err);
	produce_message(p, &err);
	assert_int_equal(kafka_producer_flush(p, 20, &err), -1);
	assert_non_null(strstr(err.text, "2 messages"));
	kafka_producer_free(p);
}

static void an_idle_producer_finds_out_that_nobody_is_there(void **state)
{
	struct seen seen = {0};
	struct kafka_producer *p = open_producer(&seen);

	(void)state;
	assert_non_null(p);
	for (int i = 0; i < 1200 && !atomic_load(&seen.states_down); i++)
		nanosleep(&(struct timespec){0, 50 * 1000000}, NULL);
	assert_false(kafka_producer_is_up(p));
	kafka_producer_free(p);
	assert_non_null(strstr(seen.reason, "refused"));
}

/* --- answers of a broker -------------------------------------------------- */

/* Returns whether a message with this answer is certainly not stored. */
static bool is_certain(rd_kafka_mock_cluster_t *mock, rd_kafka_resp_err_t code)
{
	enum {
		API_PRODUCE = 0
	};
	char *at[] = {strdup(rd_kafka_mock_cluster_bootstraps(mock))};
	struct kafka_config config = nobody;
	struct seen seen = {0};
	struct error err = {0};
	struct kafka_producer *p;

	config.brokers = (struct setting_strings){at, 1};
	p = open_at(&config, &seen, NULL);
	assert_non_null(p);
	rd_kafka_mock_push_request_errors(mock, API_PRODUCE, 1, code);
	assert_int_equal(produce_message(p, &err), 0);
	assert_int_equal(kafka_producer_flush(p, 20000, &err), 0);
	assert_int_equal(atomic_load(&seen.failures), 1);
	kafka_producer_free(p);
	free(at[0]);
	return atomic_load(&seen.certain) == 1;
}

static void
what_a_broker_may_have_stored_is_not_certainly_not_stored(void **state)
{
	rd_kafka_mock_cluster_t *mock = mock_kafka_start("t");

	(void)state;
	assert_true(
		is_certain(mock, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED));
	assert_false(is_certain(mock, RD_KAFKA_RESP_ERR_UNKNOWN));
	assert_false(is_certain(mock, RD_KAFKA_RESP_ERR_NETWORK_EXCEPTION));
	assert_false(
		is_certain(mock, RD_KAFKA_RESP_ERR_THROTTLING_QUOTA_EXCEEDED));
	mock_kafka_stop(mock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			an_unknown_option_is_a_config_error_that_names_it),
		cmocka_unit_test(an_option_without_a_value_is_a_config_error),
		cmocka_unit_test(all_brokers_are_passed_on),
		cmocka_unit_test(no_broker_named_is_a_config_error),
		cmocka_unit_test(a_full_queue_is_busy_and_retriable),
		cmocka_unit_test(
			freeing_reports_each_message_as_perhaps_stored),
		cmocka_unit_test(a_message_in_place_is_told_of_where_it_stands),
		cmocka_unit_test(a_flush_that_cannot_end_says_how_many_remain),
		cmocka_unit_test(
			an_idle_producer_finds_out_that_nobody_is_there),
		cmocka_unit_test(
			what_a_broker_may_have_stored_is_not_certainly_not_stored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
