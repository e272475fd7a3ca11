#include "tests/unit/mock_kafka.h"
#include "tests/unit/unit.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "redirector/renewals/renewals_report.h"
#include "schemas/renewal.pb-c.h"

enum {
	PATIENCE_MS = 20000,
	PAUSE_MS = 10,
	API_PRODUCE = 0,
};

#define END UINT64_C(1800000000123)

struct world {
	rd_kafka_mock_cluster_t *kafka;
	struct mock_kafka_config kafka_config;
	char topic[16];
	struct metrics *registry;
	struct metric *reported, *refused, *undelivered;
	struct log *log;
	struct loop *loop;
	pthread_t thread; /* runs the loop */
	bool runs;
	struct renewals_report *report;
	struct renewals_writer *writer;
	rd_kafka_t *reader;
};

static struct metric *metric_of_reason(struct world *w, const char *reason)
{
	return metrics_counter(
		w->registry, "shortloop_redirector_renewals_unreported_total",
		reason, "Renewals that did not reach Kafka, by reason");
}

static void make_report(struct world *w)
{
	struct error err = {0};

	w->report = renewals_report_new(&w->kafka_config.config, w->registry,
					w->log, &err);
	if (!w->report)
		fail_msg("%s", err.text);
	w->writer = renewals_writer_new(w->report, w->loop, &err);
	if (!w->writer)
		fail_msg("%s", err.text);
	w->reported = metrics_counter(
		w->registry, "shortloop_redirector_renewals_reported_total",
		NULL, "Renewals of links that Kafka has");
	w->refused = metric_of_reason(w, "reason=\"refused\"");
	w->undelivered = metric_of_reason(w, "reason=\"undelivered\"");
}

static int make_world(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct error err = {0};

	snprintf(w->topic, sizeof(w->topic), MOCK_KAFKA_TOPIC);
	w->kafka = mock_kafka_start(w->topic);
	mock_kafka_configure(w->kafka, &w->kafka_config);
	w->kafka_config.config.topic_renewals = w->topic;
	w->kafka_config.config.queue_messages = 3;
	w->registry = metrics_new();
	w->log = log_new("test", STDERR_FILENO, LOG_ERROR, LOG_LOGFMT, &err);
	w->loop = loop_new(&err);
	assert_non_null(w->loop);
	make_report(w);
	*state = w;
	return 0;
}

static int drop_world(void **state)
{
	struct world *w = *state;

	if (w->runs) {
		loop_stop(w->loop);
		pthread_join(w->thread, NULL);
	}
	renewals_writer_free(w->writer);
	renewals_report_free(w->report);
	if (w->reader)
		rd_kafka_destroy(w->reader);
	loop_free(w->loop);
	log_free(w->log);
	metrics_free(w->registry);
	mock_kafka_stop(w->kafka);
	free(w);
	return 0;
}

static void add_renewals(struct world *w, size_t count)
{
	for (size_t i = 0; i < count; i++)
		renewals_writer_add(w->writer, UINT64_MAX - i,
				    (uint32_t)(i + 1), (int64_t)(END + i));
}

static void open_reader(struct world *w)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	rd_kafka_topic_partition_list_t *all;
	char why[256];

	rd_kafka_conf_set_log_cb(conf, NULL);
	rd_kafka_conf_set(conf, "bootstrap.servers", w->kafka_config.address,
			  NULL, 0);
	rd_kafka_conf_set(conf, "group.id", "test", NULL, 0);
	w->reader = rd_kafka_new(RD_KAFKA_CONSUMER, conf, why, sizeof(why));
	if (!w->reader)
		fail_msg("%s", why);
	all = kafka_one_partition(w->topic, 0, RD_KAFKA_OFFSET_BEGINNING);
	rd_kafka_assign(w->reader, all);
	rd_kafka_topic_partition_list_destroy(all);
}

/* Returns the next record in Kafka, owned by the caller; waits for it. */
static Shortloop__Renewals *next_record(struct world *w)
{
	int64_t until = clock_monotonic_ms() + PATIENCE_MS;
	Shortloop__Renewals *m = NULL;
	rd_kafka_message_t *message;

	if (!w->reader)
		open_reader(w);
	while (!m && clock_monotonic_ms() < until) {
		message = rd_kafka_consumer_poll(w->reader, 100);
		if (message && !message->err)
			m = shortloop__renewals__unpack(NULL, message->len,
							message->payload);
		if (message)
			rd_kafka_message_destroy(message);
	}
	assert_non_null(m);
	return m;
}

static void next_record_has(struct world *w, size_t count)
{
	Shortloop__Renewals *m = next_record(w);

	assert_int_equal(m->n_link_ids, count);
	assert_int_equal(m->n_versions, count);
	assert_int_equal(m->n_ends_ms, count);
	for (size_t i = 0; i < count; i++) {
		assert_true(m->link_ids[i] == UINT64_MAX - i);
		assert_int_equal(m->versions[i], i + 1);
		assert_true(m->ends_ms[i] == END + i);
	}
	shortloop__renewals__free_unpacked(m, NULL);
}

static void wait_for(const struct metric *metric, uint64_t value)
{
	int64_t until = clock_monotonic_ms() + PATIENCE_MS;

	while (metric_value(metric) < value && clock_monotonic_ms() < until)
		nanosleep(&(struct timespec){0, PAUSE_MS * 1000000L}, NULL);
	assert_int_equal(metric_value(metric), value);
}

static void a_full_record_is_sent_at_once(void **state)
{
	struct world *w = *state;

	add_renewals(w, RENEWALS_MAX);
	next_record_has(w, RENEWALS_MAX);
	wait_for(w->reported, RENEWALS_MAX);
}

static void *run_loop(void *arg)
{
	struct error err;

	assert_int_equal(loop_run(arg, &err), 0);
	return NULL;
}

/* The thread's loop sends what is there a second after the first. */
static void one_renewal_is_sent_after_a_while(void **state)
{
	struct world *w = *state;

	add_renewals(w, 1);
	assert_int_equal(metric_value(w->reported), 0);
	assert_int_equal(pthread_create(&w->thread, NULL, run_loop, w->loop),
			 0);
	w->runs = true;
	next_record_has(w, 1);
}

static void what_is_there_at_the_end_is_sent(void **state)
{
	struct world *w = *state;

	add_renewals(w, 2);
	renewals_writer_free(w->writer);
	w->writer = NULL;
	renewals_report_end(w->report, PATIENCE_MS);
	assert_int_equal(metric_value(w->reported), 2);
	next_record_has(w, 2);
}

static void an_end_without_renewals_sends_nothing(void **state)
{
	struct world *w = *state;

	renewals_writer_free(w->writer);
	w->writer = NULL;
	renewals_report_end(w->report, 0);
	assert_int_equal(metric_value(w->reported), 0);
}

/* The queue has three places, and Kafka is away. */
static void a_full_queue_is_counted(void **state)
{
	struct world *w = *state;

	rd_kafka_mock_broker_set_down(w->kafka, 1);
	for (int i = 0; i < 5; i++)
		add_renewals(w, RENEWALS_MAX);
	assert_int_equal(metric_value(w->refused), 2 * RENEWALS_MAX);
	rd_kafka_mock_broker_set_up(w->kafka, 1);
	wait_for(w->reported, 3 * RENEWALS_MAX);
	add_renewals(w, RENEWALS_MAX);
	wait_for(w->reported, 4 * RENEWALS_MAX);
	assert_int_equal(metric_value(w->undelivered), 0);
}

static void what_kafka_refuses_is_counted(void **state)
{
	struct world *w = *state;

	rd_kafka_mock_push_request_errors(
		w->kafka, API_PRODUCE, 1,
		RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
	add_renewals(w, RENEWALS_MAX);
	wait_for(w->undelivered, RENEWALS_MAX);
	assert_int_equal(metric_value(w->reported), 0);
}

static void what_is_left_when_it_is_freed_is_counted(void **state)
{
	struct world *w = *state;

	rd_kafka_mock_broker_set_down(w->kafka, 1);
	add_renewals(w, 7);
	renewals_writer_free(w->writer);
	w->writer = NULL;
	renewals_report_free(w->report);
	w->report = NULL;
	assert_int_equal(metric_value(w->undelivered), 7);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_world, drop_world)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_full_record_is_sent_at_once),
		TEST(one_renewal_is_sent_after_a_while),
		TEST(what_is_there_at_the_end_is_sent),
		TEST(an_end_without_renewals_sends_nothing),
		TEST(a_full_queue_is_counted),
		TEST(what_kafka_refuses_is_counted),
		TEST(what_is_left_when_it_is_freed_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
