#include "tests/unit/mock_kafka.h"
#include "tests/unit/unit.h"

#include <dirent.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "redirector/counters/counters_report.h"
#include "schemas/counters.pb-c.h"

/* --- a record ------------------------------------------------------------- */

static const struct counters_origin origin = {"here:8080", "edge-1", 7, 1000};

static Shortloop__RedirectorCounters *
record_of(const struct counters_state *state, const struct hour_counts *counts)
{
	struct buf out = {0};
	Shortloop__RedirectorCounters *m;

	counters_record_put(&out, &origin, state, counts);
	assert_false(out.failed);
	m = shortloop__redirector_counters__unpack(NULL, out.len,
						   (const uint8_t *)out.data);
	assert_non_null(m);
	buf_free(&out);
	return m;
}

static void a_record_says_whose_it_is_and_of_when(void **state)
{
	const struct counters_state last = {12, 1800000000000, true, false};
	const struct hour_counts counts = {.hour = 500000};
	Shortloop__RedirectorCounters *m = record_of(&last, &counts);

	(void)state;
	assert_string_equal(m->instance, "here:8080");
	assert_string_equal(m->edge, "edge-1");
	assert_int_equal(m->boot, 7);
	assert_int_equal(m->started_ms, 1000);
	assert_int_equal(m->sequence, 12);
	assert_int_equal(m->hour_ms, UINT64_C(500000) * 3600000);
	assert_int_equal(m->until_ms, UINT64_C(1800000000000));
	assert_true(m->ended);
	assert_false(m->inexact);
	shortloop__redirector_counters__free_unpacked(m, NULL);
}

static void each_counter_has_a_field_of_its_own(void **state)
{
	const struct counters_state any = {1, 1, false, true};
	struct hour_counts counts = {.hour = 1};
	Shortloop__RedirectorCounters *m;

	(void)state;
	for (uint64_t i = 0; i < HOUR_COUNTERS; i++)
		counts.n[i] = i + 1;
	m = record_of(&any, &counts);
	assert_int_equal(m->redirected, HOUR_REDIRECTED + 1);
	assert_int_equal(m->not_found, HOUR_NOT_FOUND + 1);
	assert_int_equal(m->expired, HOUR_EXPIRED + 1);
	assert_int_equal(m->blocked, HOUR_BLOCKED + 1);
	assert_int_equal(m->head, HOUR_HEAD + 1);
	assert_int_equal(m->silent, HOUR_SILENT + 1);
	assert_int_equal(m->produced, HOUR_PRODUCED + 1);
	assert_int_equal(m->refused, HOUR_REFUSED + 1);
	assert_int_equal(m->acknowledged, HOUR_ACKNOWLEDGED + 1);
	assert_int_equal(m->undelivered, HOUR_UNDELIVERED + 1);
	assert_int_equal(m->spooled, HOUR_SPOOLED + 1);
	assert_int_equal(m->replayed, HOUR_REPLAYED + 1);
	assert_int_equal(m->withheld, HOUR_WITHHELD + 1);
	assert_true(m->inexact);
	shortloop__redirector_counters__free_unpacked(m, NULL);
}

static void a_report_is_due_right_after_each_whole_minute(void **state)
{
	(void)state;
	assert_int_equal(counters_report_wait(120000, 60000), 60001);
	assert_int_equal(counters_report_wait(120001, 60000), 60000);
	assert_int_equal(counters_report_wait(179999, 60000), 2);
}

/* --- a broker in librdkafka ----------------------------------------------- */

enum {
	EVERY_MS = 100,
	PATIENCE_MS = 20000,
	PAUSE_MS = 10,
	API_PRODUCE = 0,
};

struct world {
	char dir[64];
	rd_kafka_mock_cluster_t *kafka;
	char *brokers[1];
	struct kafka_config config;
	struct redirector_settings settings;
	struct redirector_metrics metrics;
	struct metrics *registry;
	struct hour_writer writers[2];
	struct counters_report *report;
	rd_kafka_t *reader;
};

static char topic[] = "counters", listen_on[] = "127.0.0.1:80";
static char instance[] = "here";

/* The consumer logs nothing. */
static rd_kafka_t *new_consumer(rd_kafka_conf_t *conf)
{
	char why[256];
	rd_kafka_t *client;

	rd_kafka_conf_set_log_cb(conf, NULL);
	client = rd_kafka_new(RD_KAFKA_CONSUMER, conf, why, sizeof(why));
	if (!client)
		fail_msg("%s", why);
	return client;
}

static int make_world(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	snprintf(w->dir, sizeof(w->dir), "/tmp/shortloop-counters-XXXXXX");
	assert_non_null(mkdtemp(w->dir));
	w->kafka = mock_kafka_start(topic);
	w->brokers[0] = strdup(rd_kafka_mock_cluster_bootstraps(w->kafka));
	w->config = (struct kafka_config){
		.brokers = {w->brokers, 1},
		.topic_counters = topic,
		.queue_messages = 10000,
		.queue_bytes = 1 << 24,
	};
	w->settings = (struct redirector_settings){
		.listen = listen_on,
		.instance = instance,
		.spool_dir = w->dir,
	};
	w->registry = metrics_new();
	redirector_metrics_register(&w->metrics, w->registry);
	*state = w;
	return 0;
}

static void drop_report(struct world *w)
{
	counters_report_free(w->report);
	w->report = NULL;
	for (size_t i = 0; i < 2; i++)
		hour_writer_destroy(&w->writers[i]);
}

static int drop_world(void **state)
{
	struct world *w = *state;

	drop_report(w);
	if (w->reader)
		rd_kafka_destroy(w->reader);
	mock_kafka_stop(w->kafka);
	metrics_free(w->registry);
	unit_remove_dir(w->dir);
	free(w->brokers[0]);
	free(w);
	return 0;
}

static void start_report(struct world *w, int64_t every)
{
	const struct counters_report_options options = {
		.kafka = &w->config,
		.settings = &w->settings,
		.edge = "edge-1",
		.writers = w->writers,
		.servers = 1,
		.metrics = &w->metrics,
		.registry = w->registry,
	};
	struct error err = {0};

	w->settings.counters_every = every;
	w->report = counters_report_new(&options, &err);
	if (!w->report || counters_report_start(w->report, &err) < 0)
		fail_msg("%s", err.text);
}

static void open_reader(struct world *w)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	rd_kafka_topic_partition_list_t *all;

	rd_kafka_conf_set(conf, "bootstrap.servers", w->brokers[0], NULL, 0);
	rd_kafka_conf_set(conf, "group.id", "test", NULL, 0);
	w->reader = new_consumer(conf);
	all = kafka_one_partition(topic, 0, RD_KAFKA_OFFSET_BEGINNING);
	rd_kafka_assign(w->reader, all);
	rd_kafka_topic_partition_list_destroy(all);
}

/* Returns the next record in Kafka, owned by the caller; waits for it. */
static Shortloop__RedirectorCounters *next_record(struct world *w)
{
	int64_t until = clock_monotonic_ms() + PATIENCE_MS;
	Shortloop__RedirectorCounters *m = NULL;
	rd_kafka_message_t *message;

	if (!w->reader)
		open_reader(w);
	while (!m && clock_monotonic_ms() < until) {
		message = rd_kafka_consumer_poll(w->reader, 100);
		if (message && !message->err)
			m = shortloop__redirector_counters__unpack(
				NULL, message->len, message->payload);
		if (message)
			rd_kafka_message_destroy(message);
	}
	assert_non_null(m);
	return m;
}

/* Reads on until there is a record of that hour. */
static void wait_for_hour(struct world *w, int64_t hour)
{
	Shortloop__RedirectorCounters *m;
	uint64_t is = 0;

	while (is != (uint64_t)hour * (uint64_t)HOUR_MS) {
		m = next_record(w);
		is = m->hour_ms;
		shortloop__redirector_counters__free_unpacked(m, NULL);
		assert_int_not_equal(is, 0);
	}
}

static void an_hour_without_counts_is_told_while_it_is_present(void **state)
{
	struct world *w = *state;
	int64_t hour = clock_real_ms() / HOUR_MS;

	start_report(w, EVERY_MS);
	/* The records of a report are in the order of the places: a record
	 * without an hour would come before the records of the third hour end.
	 */
	for (int64_t i = 1; i <= 3; i++) {
		hour_writer_flush(&w->writers[0], (hour + i) * HOUR_MS + 1);
		wait_for_hour(w, hour + i);
	}
	counters_report_end(w->report, PATIENCE_MS);
	wait_for_hour(w, clock_real_ms() / HOUR_MS);
}

/* Kafka refuses `count` records with this error. */
static void refuse_records(struct world *w, int code, size_t count)
{
	for (size_t i = 0; i < count; i++)
		rd_kafka_mock_push_request_errors(w->kafka, API_PRODUCE, 1,
						  (rd_kafka_resp_err_t)code);
}

static size_t count_files(const struct world *w)
{
	static const char prefix[] = "counters-";
	DIR *dir = opendir(w->dir);
	size_t count = 0;

	for (struct dirent *e; (e = readdir(dir));)
		count += strncmp(e->d_name, prefix, strlen(prefix)) == 0;
	closedir(dir);
	return count;
}

static void wait_for_files(const struct world *w, size_t count)
{
	int64_t until = clock_monotonic_ms() + PATIENCE_MS;

	while (count_files(w) != count && clock_monotonic_ms() < until)
		nanosleep(&(struct timespec){0, PAUSE_MS * 1000000L}, NULL);
	assert_int_equal(count_files(w), count);
}

static void count_redirects(struct hour_writer *writer, int64_t at, int n)
{
	for (int i = 0; i < n; i++)
		hour_writer_count(writer, at, HOUR_REDIRECTED);
}

/* Reads on until there is a record of a start that has ended with this count.
 */
static void wait_for_last(struct world *w, uint64_t redirected)
{
	Shortloop__RedirectorCounters *m;
	bool found = false;

	while (!found) {
		m = next_record(w);
		found = m->ended && m->redirected == redirected;
		shortloop__redirector_counters__free_unpacked(m, NULL);
	}
}

/* The start makes only its first and its last report, with some counts between.
 */
static void start_calmly(struct world *w)
{
	start_report(w, CLOCK_DAY);
	wait_for_hour(w, clock_real_ms() / HOUR_MS);
}

static void end_report(struct world *w)
{
	counters_report_end(w->report, PATIENCE_MS);
	drop_report(w);
}

static void check_left_after(struct world *w, int code)
{
	start_calmly(w);
	count_redirects(&w->writers[0], clock_real_ms(), 1234);
	refuse_records(w, code, 1);
	end_report(w);
	assert_int_equal(count_files(w), 1);
	start_report(w, EVERY_MS);
	wait_for_last(w, 1234);
	wait_for_files(w, 1);
	end_report(w);
	assert_int_equal(count_files(w), 0);
}

static void
counters_that_may_not_be_written_last_are_told_by_the_next_start(void **state)
{
	check_left_after(*state, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
}

static void
counters_that_end_kafkas_client_last_are_told_by_the_next_start(void **state)
{
	check_left_after(*state,
			 RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER);
}

static void
counters_that_kafka_refuses_last_are_told_by_the_next_start(void **state)
{
	check_left_after(*state, RD_KAFKA_RESP_ERR_UNKNOWN);
}

static void
counters_that_cannot_be_sent_last_are_told_by_the_next_start(void **state)
{
	struct world *w = *state;
	int64_t now = clock_real_ms();

	/* The queue has room for the record of one hour. */
	w->config.queue_messages = 1;
	start_calmly(w);
	count_redirects(&w->writers[0], now - HOUR_MS, 11);
	count_redirects(&w->writers[0], now, 22);
	end_report(w);
	assert_int_equal(count_files(w), 1);
}

/* Leaves the file of a start that was killed. */
static void leave_file(struct world *w, int redirected)
{
	const struct counters_origin killed = {"there", "edge-1", 7, 1000};
	struct hour_writer writer;
	struct counters_file *f;
	struct error err = {0};

	f = counters_file_new(w->dir, &killed, 1, &err);
	if (!f)
		fail_msg("%s", err.text);
	hour_writer_init(&writer, counters_file_totals(f, 0));
	count_redirects(&writer, clock_real_ms(), redirected);
	hour_writer_destroy(&writer);
	counters_file_free(f);
}

static void refused_counters_of_another_start_are_told_again(void **state)
{
	struct world *w = *state;

	leave_file(w, 77);
	refuse_records(w, RD_KAFKA_RESP_ERR_UNKNOWN, 3);
	start_report(w, EVERY_MS);
	assert_int_equal(count_files(w), 2);
	wait_for_files(w, 1);
	wait_for_last(w, 77);
	end_report(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_says_whose_it_is_and_of_when),
		cmocka_unit_test(each_counter_has_a_field_of_its_own),
		cmocka_unit_test(a_report_is_due_right_after_each_whole_minute),
		cmocka_unit_test_setup_teardown(
			an_hour_without_counts_is_told_while_it_is_present,
			make_world, drop_world),
		cmocka_unit_test_setup_teardown(
			counters_that_may_not_be_written_last_are_told_by_the_next_start,
			make_world, drop_world),
		cmocka_unit_test_setup_teardown(
			counters_that_end_kafkas_client_last_are_told_by_the_next_start,
			make_world, drop_world),
		cmocka_unit_test_setup_teardown(
			counters_that_kafka_refuses_last_are_told_by_the_next_start,
			make_world, drop_world),
		cmocka_unit_test_setup_teardown(
			counters_that_cannot_be_sent_last_are_told_by_the_next_start,
			make_world, drop_world),
		cmocka_unit_test_setup_teardown(
			refused_counters_of_another_start_are_told_again,
			make_world, drop_world),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
