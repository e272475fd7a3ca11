/* What a disk makes of the journal, and a failure of Kafka's client of events.
 * Kafka is away, unless a test says otherwise: nobody listens on the port that
 * these tests name. */
#include "tests/unit/bad_disk.h"
#include "tests/unit/mock_kafka.h"
#include "tests/unit/unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>

#include "common/clock.h"
#include "common/spool/spool.h"
#include "redirector/event_journal.h"
#include "redirector/event_sink.h"

/* In place of libc's: a disk that has no room for a journal, or does not keep
 * what was written. */
static atomic_bool disk_is_full;

int posix_fallocate(int fd, off_t at, off_t size)
{
	if (disk_is_full)
		return ENOSPC;
	return syscall(SYS_fallocate, fd, 0, at, size) < 0 ? errno : 0;
}

int fdatasync(int fd)
{
	return bad_disk_sync(fd);
}

static char broker[] = "127.0.0.1:1", topic[] = "t", compression[] = "none";
static char *brokers[] = {broker};

struct world {
	char parent[64], dir[80];
	char mock_address[64], *mock_brokers[1];
	struct redirector_config config;
	struct redirector_metrics metrics;
	struct hour_totals totals;
	struct hour_writer hours;
	struct metrics *registry;
	struct health *health;
	struct event_sink *sink;
};

static int make_world(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct redirector_settings *s = &w->config.redirector;

	snprintf(w->parent, sizeof(w->parent), "/tmp/shortloop-sink-XXXXXX");
	assert_non_null(mkdtemp(w->parent));
	snprintf(w->dir, sizeof(w->dir), "%s/spool", w->parent);
	w->config.kafka = (struct kafka_config){
		.brokers = {brokers, 1},
		.topic_clicks = topic,
		.queue_messages = 100,
		.queue_bytes = 1 << 20,
	};
	s->compression = compression;
	s->delivery_timeout = CLOCK_HOUR;
	s->spool_dir = w->dir;
	s->spool_max_bytes = 1 << 20;
	s->spool_journal_bytes = 1 << 20;
	s->spool_replay_rate = 1000;
	w->registry = metrics_new();
	w->health = health_new();
	redirector_metrics_register(&w->metrics, w->registry);
	hour_writer_init(&w->hours, &w->totals);
	*state = w;
	return 0;
}

static int drop_world(void **state)
{
	struct world *w = *state;

	disk_is_full = sync_fails = false;
	event_sink_free(w->sink);
	hour_writer_destroy(&w->hours);
	health_free(w->health);
	metrics_free(w->registry);
	unit_remove_dir(w->parent);
	free(w);
	return 0;
}

static void make_sink(struct world *w, bool succeeds)
{
	const struct event_sink_options options = {
		.config = &w->config,
		.metrics = &w->metrics,
		.hours = &w->hours,
		.threads = 1,
		.registry = w->registry,
		.health = w->health,
		.succeeds = succeeds,
	};
	struct error err = {0};

	w->sink = event_sink_new(&options, &err);
	if (!w->sink)
		fail_msg("%s", err.text);
}

static void start(struct world *w)
{
	struct error err = {0};

	if (event_sink_start(w->sink, &err) < 0)
		fail_msg("%s", err.text);
}

static void take(struct world *w)
{
	const struct taken_event event = {0, clock_real_ms(), "event", 5};

	assert_int_equal(event_sink_take(w->sink, &event), EVENT_TAKEN);
}

static size_t count_journals(struct world *w)
{
	DIR *dir = opendir(w->dir);
	size_t count = 0;

	for (struct dirent *e; (e = readdir(dir));)
		count += strncmp(e->d_name, JOURNAL_PREFIX,
				 strlen(JOURNAL_PREFIX)) == 0;
	closedir(dir);
	return count;
}

/* Of processes that were killed. */
static void leave_journals(struct world *w, size_t count)
{
	const struct event_journal_options options = {w->dir, 1, 1 << 20, 1000};
	struct event_journal *j;
	struct error err = {0};

	for (size_t i = 0; i < count; i++) {
		j = event_journal_new(&options, &err);
		if (!j)
			fail_msg("%s", err.text);
		event_journal_put(j, 0, 1, "event", 5);
		event_journal_free(j);
	}
}

static bool is_said(struct world *w, const char *text)
{
	struct buf said = {0};
	bool found;

	health_report(w->health, &said);
	found = strstr(buf_cstr(&said), text);
	buf_free(&said);
	return found;
}

/* The sink tries again, and a try has a file until it finds no room: so none is
 * seen once, and perhaps one a moment later. */
static bool are_journals_seen_gone(struct world *w)
{
	for (int i = 0; i < 20000; i++) {
		if (count_journals(w) == 0)
			return true;
		usleep(1000);
	}
	return false;
}

static void a_journal_that_has_no_room_is_made_later(void **state)
{
	struct world *w = *state;
	const char *why = "no room for it: No space left on device";

	make_sink(w, false);
	disk_is_full = true;
	start(w);
	assert_int_equal(metric_value(w->metrics.journal_missing), 1);
	assert_true(is_said(w, why));
	take(w);
	assert_true(are_journals_seen_gone(w));
	disk_is_full = false;
	for (int i = 0; i < 20000 && metric_value(w->metrics.journal_missing);
	     i++)
		usleep(1000);
	assert_int_equal(metric_value(w->metrics.journal_missing), 0);
	assert_false(is_said(w, why));
	assert_int_equal(count_journals(w), 1);
	take(w);
	event_sink_end(w->sink);
	/* Both are in the spool, and nothing is in the journal. */
	assert_int_equal(metric_value(w->metrics.counters[COUNTER_SPOOLED]), 2);
	assert_int_equal(count_journals(w), 0);
}

/* As where its spool is too full to take them. */
static void
what_others_left_keeps_nobody_with_the_folder_from_starting(void **state)
{
	struct world *w = *state;

	make_sink(w, false);
	leave_journals(w, JOURNAL_FILES_MAX);
	sync_fails = true;
	start(w);
	assert_int_equal(count_journals(w), JOURNAL_FILES_MAX);
	assert_int_equal(metric_value(w->metrics.journal_missing), 1);
	assert_true(is_said(w, "there are 16 journals"));
	take(w);
}

/* That one serves. */
static void what_others_left_ends_a_start_in_the_folder_of_another(void **state)
{
	struct world *w = *state;
	const struct spool_options options = {w->dir, 1 << 20, 0};
	struct error err = {0};
	struct spool *former = spool_open(&options, &err);

	assert_non_null(former);
	make_sink(w, true);
	leave_journals(w, JOURNAL_FILES_MAX);
	assert_int_equal(event_sink_start(w->sink, &err), -1);
	assert_int_equal(err.code, ERROR_BUSY);
	assert_true(err.retriable);
	spool_free(former);
}

/* --- Kafka's client fails --------------------------------------------------
 */

static rd_kafka_mock_cluster_t *make_kafka(struct world *w)
{
	rd_kafka_mock_cluster_t *mock = mock_kafka_start(topic);

	snprintf(w->mock_address, sizeof(w->mock_address), "%s",
		 rd_kafka_mock_cluster_bootstraps(mock));
	w->mock_brokers[0] = w->mock_address;
	w->config.kafka.brokers = (struct setting_strings){w->mock_brokers, 1};
	return mock;
}

static uint64_t counted(struct world *w, enum hour_counter which)
{
	struct hour_table table = {0};
	uint64_t n = 0;

	hour_totals_add_to(&w->totals, &table);
	for (size_t i = 0; i < HOUR_TABLE_SIZE; i++)
		n += table.items[i].n[which];
	return n;
}

static void await_counted(struct world *w, enum hour_counter which,
			  uint64_t count)
{
	for (int i = 0; i < 60000 && counted(w, which) < count; i++)
		usleep(1000);
	assert_int_equal(counted(w, which), count);
}

/* Kafka answers the next Produce by that error. */
static void refuse_next_produce(rd_kafka_mock_cluster_t *mock,
				rd_kafka_resp_err_t code)
{
	rd_kafka_mock_push_request_errors(mock, 0, 1, code);
}

/* Kafka has had one event since. */
static rd_kafka_mock_cluster_t *start_at_kafka(struct world *w)
{
	rd_kafka_mock_cluster_t *mock = make_kafka(w);

	make_sink(w, false);
	start(w);
	take(w);
	await_counted(w, HOUR_ACKNOWLEDGED, 1);
	return mock;
}

static void a_client_of_kafkas_that_fails_for_good_costs_no_event(void **state)
{
	struct world *w = *state;
	rd_kafka_mock_cluster_t *mock = start_at_kafka(w);

	refuse_next_produce(mock,
			    RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER);
	for (int i = 0; i < 50; i++) {
		take(w);
		usleep(1000);
	}
	await_counted(w, HOUR_ACKNOWLEDGED, 51);
	/* What was on its way came by the spool. */
	assert_true(metric_value(w->metrics.counters[COUNTER_REPLAYED]) > 0);
	assert_int_equal(counted(w, HOUR_UNDELIVERED), 0);
	event_sink_end(w->sink);
	mock_kafka_stop(mock);
}

static uint64_t spooled(struct world *w)
{
	return metric_value(w->metrics.counters[COUNTER_SPOOLED]);
}

/* Kafka's queue would hold them for an hour. */
static void while_kafka_is_away_an_event_goes_to_the_spool_at_once(void **state)
{
	struct world *w = *state;

	make_sink(w, false);
	start(w);
	/* The first ones are taken before anybody knows. */
	for (int i = 0; i < 60000 && spooled(w) == 0; i++) {
		take(w);
		usleep(1000);
	}
	assert_true(spooled(w) > 0);
}

static void what_kafka_takes_is_not_spooled(void **state)
{
	struct world *w = *state;
	rd_kafka_mock_cluster_t *mock = start_at_kafka(w);

	for (uint64_t n = 2; n <= 3; n++) {
		take(w);
		await_counted(w, HOUR_ACKNOWLEDGED, n);
	}
	event_sink_end(w->sink);
	assert_int_equal(spooled(w), 0);
	mock_kafka_stop(mock);
}

static void what_kafka_has_not_answered_at_the_end_is_in_the_spool(void **state)
{
	enum {
		EVENTS = 90
	};
	struct world *w = *state;
	rd_kafka_mock_cluster_t *mock = start_at_kafka(w);

	rd_kafka_mock_broker_set_rtt(mock, 1, 600 * 1000);
	for (int i = 0; i < EVENTS; i++)
		take(w);
	event_sink_end(w->sink);
	assert_int_equal(spooled(w), EVENTS);
	assert_int_equal(counted(w, HOUR_ACKNOWLEDGED), 1);
	assert_int_equal(counted(w, HOUR_UNDELIVERED), 0);
	assert_int_equal(count_journals(w), 0);
	mock_kafka_stop(mock);
}

static void await_undelivered(struct world *w, uint64_t count)
{
	await_counted(w, HOUR_UNDELIVERED, count);
	event_sink_end(w->sink);
	assert_int_equal(counted(w, HOUR_UNDELIVERED), count);
	assert_int_equal(
		metric_value(w->metrics.counters[COUNTER_DROPPED_EXPIRED]),
		count);
	assert_int_equal(counted(w, HOUR_ACKNOWLEDGED), 0);
}

static void what_kafka_did_not_take_in_time_is_undelivered_once(void **state)
{
	struct world *w = *state;

	w->config.redirector.spool_dir = NULL;
	w->config.redirector.delivery_timeout = CLOCK_SECOND;
	make_sink(w, false);
	start(w);
	for (int i = 0; i < 3; i++)
		take(w);
	await_undelivered(w, 3);
}

static void
what_is_too_large_for_kafka_is_undelivered_and_not_spooled(void **state)
{
	struct world *w = *state;
	rd_kafka_mock_cluster_t *mock = make_kafka(w);

	make_sink(w, false);
	start(w);
	refuse_next_produce(mock, RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE);
	take(w);
	await_undelivered(w, 1);
	assert_int_equal(counted(w, HOUR_SPOOLED), 0);
	mock_kafka_stop(mock);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_world, drop_world)
	const struct CMUnitTest tests[] = {
		TEST(a_journal_that_has_no_room_is_made_later),
		TEST(what_others_left_keeps_nobody_with_the_folder_from_starting),
		TEST(what_others_left_ends_a_start_in_the_folder_of_another),
		TEST(a_client_of_kafkas_that_fails_for_good_costs_no_event),
		TEST(while_kafka_is_away_an_event_goes_to_the_spool_at_once),
		TEST(what_kafka_takes_is_not_spooled),
		TEST(what_kafka_has_not_answered_at_the_end_is_in_the_spool),
		TEST(what_kafka_did_not_take_in_time_is_undelivered_once),
		TEST(what_is_too_large_for_kafka_is_undelivered_and_not_spooled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
