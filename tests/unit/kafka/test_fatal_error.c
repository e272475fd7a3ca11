/* The fate of messages when librdkafka gives a producer up for good.  The
 * brokers are librdkafka's own mock, in this process. */
#include "tests/unit/mock_kafka.h"
#include "tests/unit/unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "common/kafka/producer.h"

enum {
	PRODUCE = 0, /* ApiKey */
	INIT_PRODUCER_ID = 22,
	MESSAGES_MAX = 1 << 20,
	QUEUED = 100,
	THREADS = 4,
	AWAIT_MS = 60000,
};

static char topic[] = "t";

/* A message's content is its number. */
struct world {
	rd_kafka_mock_cluster_t *mock;
	char *brokers[1], *options[2];
	struct kafka_config config;
	struct metrics *registry;
	struct metric *renewed;
	struct kafka_producer *producer;
	atomic_uchar *reports; /* one for each message */
	uint8_t *stored;       /* how often each message is in the log */
	atomic_size_t next;    /* the next number */
	atomic_size_t acknowledged, failed, certain;
	atomic_int told_down, told_up;
	atomic_bool enough; /* enough messages were made */
	bool keeps_failed;  /* the producer's user keeps failed messages */
};

/* --- reports of the producer ---------------------------------------------- */

static void on_delivery(void *arg, void *opaque, const struct error *err)
{
	struct world *w = arg;

	atomic_fetch_add(&w->reports[(uintptr_t)opaque], 1);
	if (err && err->retriable)
		atomic_fetch_add(&w->certain, 1);
	atomic_fetch_add(err ? &w->failed : &w->acknowledged, 1);
}

static void on_failure(void *arg, void *opaque, const void *payload, size_t len,
		       const struct error *err)
{
	assert_int_equal(len, sizeof(size_t));
	assert_memory_equal(payload, &opaque, len);
	on_delivery(arg, opaque, err);
}

static void on_state(void *arg, bool up, const char *reason)
{
	struct world *w = arg;

	(void)reason;
	atomic_fetch_add(up ? &w->told_up : &w->told_down, 1);
}

/* --- the world ------------------------------------------------------------ */

static int make_world(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	w->mock = mock_kafka_start(topic);
	w->brokers[0] = strdup(rd_kafka_mock_cluster_bootstraps(w->mock));
	w->config = (struct kafka_config){
		.brokers = {w->brokers, 1},
		.queue_messages = 1000,
		.queue_bytes = 1 << 20,
	};
	w->registry = metrics_new();
	w->reports = calloc(MESSAGES_MAX, sizeof(*w->reports));
	w->stored = calloc(MESSAGES_MAX, sizeof(*w->stored));
	*state = w;
	return 0;
}

static int drop_world(void **state)
{
	struct world *w = *state;

	kafka_producer_free(w->producer);
	mock_kafka_stop(w->mock);
	metrics_free(w->registry);
	free(w->brokers[0]);
	free(w->reports);
	free(w->stored);
	free(w);
	return 0;
}

static void open_producer(struct world *w)
{
	const struct kafka_producer_options options = {
		.client_id = "test",
		.topic = topic,
		.compression = "none",
		.linger = 1,
		.delivery_timeout = AWAIT_MS,
		.on_delivery = on_delivery,
		.on_failure = w->keeps_failed ? on_failure : NULL,
		.on_state = on_state,
		.arg = w,
	};
	struct error err = {0};

	w->producer =
		kafka_producer_new(&w->config, &options, w->registry, &err);
	if (!w->producer)
		fail_msg("%s", err.text);
	/* The registry returns the same counter. */
	w->renewed = metrics_counter(
		w->registry, "shortloop_kafka_renewed_total", "topic=\"t\"",
		"Clients made anew after a fatal error");
}

/* Each message has a request of its own, sent after the answer to the one
 * before. */
static void send_one_at_a_time(struct world *w)
{
	static char in_flight[] = "max.in.flight.requests.per.connection=1";
	static char batch[] = "batch.num.messages=1";

	w->options[0] = in_flight;
	w->options[1] = batch;
	w->config.options = (struct setting_strings){w->options, 2};
}

static int try_produce(struct world *w, struct error *err)
{
	size_t n = atomic_fetch_add(&w->next, 1);

	assert_true(n < MESSAGES_MAX);
	return kafka_produce(w->producer, NULL, 0, &n, sizeof(n), (void *)n,
			     err);
}

static void produce_message(struct world *w)
{
	struct error err = {0};

	if (try_produce(w, &err) < 0)
		fail_msg("%s", err.text);
}

static void await_acknowledged(struct world *w, size_t count)
{
	for (int i = 0; i < AWAIT_MS && w->acknowledged < count; i++)
		usleep(1000);
	assert_int_equal(w->acknowledged, count);
}

static void await_renewed(struct world *w, uint64_t times)
{
	for (int i = 0; i < AWAIT_MS && metric_value(w->renewed) < times; i++)
		usleep(1000);
	assert_true(metric_value(w->renewed) >= times);
}

static void fail_next(struct world *w)
{
	rd_kafka_mock_push_request_errors(
		w->mock, PRODUCE, 1,
		RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER);
}

static rd_kafka_t *open_reader(struct world *w)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	rd_kafka_topic_partition_list_t *all = kafka_one_partition(topic, 0, 0);
	char text[256];
	rd_kafka_t *rk;

	rd_kafka_conf_set(conf, "bootstrap.servers", w->brokers[0], NULL, 0);
	rd_kafka_conf_set(conf, "group.id", "test", NULL, 0);
	rd_kafka_conf_set(conf, "enable.partition.eof", "true", NULL, 0);
	rk = rd_kafka_new(RD_KAFKA_CONSUMER, conf, text, sizeof(text));
	assert_non_null(rk);
	rd_kafka_poll_set_consumer(rk);
	assert_int_equal(rd_kafka_assign(rk, all), 0);
	rd_kafka_topic_partition_list_destroy(all);
	return rk;
}

/* Returns false after the last record. */
static bool read_one(struct world *w, rd_kafka_t *rk, size_t *last)
{
	rd_kafka_message_t *m = rd_kafka_consumer_poll(rk, AWAIT_MS);
	size_t n;
	bool more;

	assert_non_null(m);
	more = m->err != RD_KAFKA_RESP_ERR__PARTITION_EOF;
	if (more) {
		assert_int_equal(m->err, 0);
		assert_int_equal(m->len, sizeof(n));
		memcpy(&n, m->payload, sizeof(n));
		w->stored[n]++;
		*last = n;
	}
	rd_kafka_message_destroy(m);
	return more;
}

/* Returns how many messages are in the log. */
static size_t read_log(struct world *w, bool in_order)
{
	rd_kafka_t *rk = open_reader(w);
	size_t count = 0, before = 0, n = 0;

	while (read_one(w, rk, &n)) {
		assert_true(!in_order || count == 0 || n > before);
		before = n;
		count++;
	}
	rd_kafka_consumer_close(rk);
	rd_kafka_destroy(rk);
	return count;
}

/* -------------------------------------------------------------------------- */

static void after_a_fatal_error_messages_are_delivered_again(void **state)
{
	struct world *w = *state;

	open_producer(w);
	produce_message(w);
	await_acknowledged(w, 1);
	fail_next(w);
	produce_message(w);
	await_renewed(w, 1);
	/* The message may be stored. */
	assert_int_equal(w->failed, 1);
	assert_int_equal(w->certain, 0);
	produce_message(w);
	await_acknowledged(w, 2);
	for (int i = 0; i < AWAIT_MS && w->told_up < 2; i++)
		usleep(1000);
	assert_true(kafka_producer_is_up(w->producer));
	assert_int_equal(w->told_down, 1);
	assert_int_equal(read_log(w, true), 2);
}

/* One message is under way, and its answer will end the client; the others
 * wait, except one that may be sent before the failure is known. */
static void begin_to_fail(struct world *w)
{
	send_one_at_a_time(w);
	open_producer(w);
	produce_message(w);
	await_acknowledged(w, 1);
	rd_kafka_mock_broker_set_rtt(w->mock, 1, 100);
	fail_next(w);
	produce_message(w);
}

static void await_next_client(struct world *w)
{
	await_renewed(w, 1);
	rd_kafka_mock_broker_set_rtt(w->mock, 1, 0);
}

static void what_waited_is_sent_by_the_next_client_in_order(void **state)
{
	struct world *w = *state;

	begin_to_fail(w);
	/* The pauses make the times of the messages different. */
	for (int i = 0; i < QUEUED; i++) {
		produce_message(w);
		usleep(100);
	}
	await_next_client(w);
	await_acknowledged(w, 1 + QUEUED);
	assert_int_equal(w->failed, 1);
	assert_int_equal(read_log(w, true), 1 + QUEUED);
	assert_int_equal(w->stored[1], 0);
}

/* librdkafka does not report whether the message was sent before. */
static void who_keeps_what_has_failed_is_given_what_waited(void **state)
{
	struct world *w = *state;

	w->keeps_failed = true;
	begin_to_fail(w);
	for (int i = 0; i < QUEUED; i++)
		produce_message(w);
	await_renewed(w, 1);
	assert_int_equal(w->acknowledged + w->failed, 2 + QUEUED);
	assert_true(w->failed >= QUEUED);
	assert_int_equal(w->certain, 0);
	produce_message(w);
	await_acknowledged(w, 3 + QUEUED - w->failed);
}

static void keys_and_headers_go_with_what_waited(void **state)
{
	static const struct kafka_header header = {"name", "value"};
	struct world *w = *state;
	rd_kafka_headers_t *headers;
	rd_kafka_message_t *m;
	struct error err = {0};
	const void *value;
	rd_kafka_t *rk;
	size_t size;

	begin_to_fail(w);
	produce_message(w);
	assert_int_equal(kafka_produce(w->producer, "key", 3, "keyed", 5,
				       (void *)3, &err),
			 0);
	assert_int_equal(kafka_produce_headers(w->producer, "headed", 6,
					       &header, 1, (void *)4, &err),
			 0);
	await_next_client(w);
	await_acknowledged(w, 4);
	assert_int_equal(w->failed, 1);
	rk = open_reader(w);
	assert_true(read_one(w, rk, &size));
	assert_true(read_one(w, rk, &size));
	m = rd_kafka_consumer_poll(rk, AWAIT_MS);
	assert_int_equal(m->len, 5);
	assert_memory_equal(m->payload, "keyed", 5);
	assert_int_equal(m->key_len, 3);
	assert_memory_equal(m->key, "key", 3);
	rd_kafka_message_destroy(m);
	m = rd_kafka_consumer_poll(rk, AWAIT_MS);
	assert_int_equal(m->len, 6);
	assert_null(m->key);
	assert_int_equal(rd_kafka_message_headers(m, &headers), 0);
	assert_int_equal(
		rd_kafka_header_get_last(headers, "name", &value, &size), 0);
	assert_string_equal(value, "value");
	rd_kafka_message_destroy(m);
	rd_kafka_consumer_close(rk);
	rd_kafka_destroy(rk);
}

static void *produce_many(void *arg)
{
	struct world *w = arg;

	while (!atomic_load(&w->enough)) {
		struct error err = {0};

		if (try_produce(w, &err) == 0)
			continue;
		assert_true(err.retriable);
		usleep(500);
	}
	return NULL;
}

static void run_threads(struct world *w, uint64_t renewals)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, produce_many, w);
	for (uint64_t i = 0; i < renewals; i++) {
		fail_next(w);
		await_renewed(w, i + 1);
	}
	atomic_store(&w->enough, true);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void
each_message_of_many_threads_is_told_of_once_and_stored_once(void **state)
{
	struct world *w = *state;
	struct error err = {0};
	size_t told = 0, count;

	open_producer(w);
	produce_message(w);
	await_acknowledged(w, 1);
	run_threads(w, 3);
	assert_int_equal(kafka_producer_flush(w->producer, AWAIT_MS, &err), 0);
	count = read_log(w, false);
	assert_true(count >= w->acknowledged);
	assert_true(count <= w->acknowledged + w->failed);
	for (size_t i = 0; i < w->next; i++) {
		assert_true(w->reports[i] <= 1);
		assert_true(w->stored[i] <= w->reports[i]);
		told += w->reports[i];
	}
	assert_int_equal(told, w->acknowledged + w->failed);
}

static void one_that_is_freed_meanwhile_tells_of_each_message(void **state)
{
	struct world *w = *state;

	begin_to_fail(w);
	for (int i = 0; i < QUEUED; i++)
		produce_message(w);
	while (w->reports[1] == 0)
		usleep(1000);
	kafka_producer_free(w->producer);
	w->producer = NULL;
	assert_int_equal(w->acknowledged + w->failed, 2 + QUEUED);
	for (size_t i = 0; i < w->next; i++)
		assert_int_equal(w->reports[i], 1);
}

/* This happens where the brokers do not allow an idempotent producer. */
static void where_no_client_works_messages_fail_at_once(void **state)
{
	struct world *w = *state;

	rd_kafka_mock_push_request_errors(
		w->mock, INIT_PRODUCER_ID, 1,
		RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED);
	rd_kafka_mock_broker_set_down(w->mock, 1);
	open_producer(w);
	produce_message(w);
	rd_kafka_mock_broker_set_up(w->mock, 1);
	for (int i = 0; i < AWAIT_MS && !w->failed; i++)
		usleep(1000);
	assert_int_equal(w->failed, 1);
	await_renewed(w, 1);
	produce_message(w);
	await_acknowledged(w, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_world, drop_world)
	const struct CMUnitTest tests[] = {
		TEST(after_a_fatal_error_messages_are_delivered_again),
		TEST(what_waited_is_sent_by_the_next_client_in_order),
		TEST(who_keeps_what_has_failed_is_given_what_waited),
		TEST(keys_and_headers_go_with_what_waited),
		TEST(each_message_of_many_threads_is_told_of_once_and_stored_once),
		TEST(one_that_is_freed_meanwhile_tells_of_each_message),
		TEST(where_no_client_works_messages_fail_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
