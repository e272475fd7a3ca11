/* A sink that cannot be made, has no room, is refused by Kafka, or ends. */
#include "tests/unit/redirector/event_sink_world.h"

#include <dlfcn.h>
#include <stdatomic.h>

#include "common/spool/spool.h"

enum {
	/* Kafka receives the events, and answers after the end of the test. */
	NO_ANSWER_MS = 600 * 1000,
};

/* Replaces librdkafka's function: the end of a client waits a moment, so that a
 * late use is noticed. */
static atomic_bool is_watched, goes;
static atomic_size_t used_late;

void rd_kafka_topic_destroy(rd_kafka_topic_t *t)
{
	static void (*destroy)(rd_kafka_topic_t * t);

	if (!destroy)
		*(void **)&destroy = dlsym(RTLD_NEXT, __func__);
	if (is_watched) {
		goes = true;
		usleep(200000);
	}
	destroy(t);
}

int rd_kafka_produce(rd_kafka_topic_t *t, int32_t partition, int flags,
		     void *payload, size_t len, const void *key, size_t key_len,
		     void *opaque)
{
	static int (*produce)(rd_kafka_topic_t * t, int32_t partition,
			      int flags, void *payload, size_t len,
			      const void *key, size_t key_len, void *opaque);

	if (!produce)
		*(void **)&produce = dlsym(RTLD_NEXT, __func__);
	if (goes)
		atomic_fetch_add(&used_late, 1);
	return produce(t, partition, flags, payload, len, key, key_len, opaque);
}

static void a_sink_without_a_producer_is_none(void **state)
{
	char unknown[] = "unknown";
	struct world *w = *state;
	struct error err = {0};

	w->config.redirector.compression = unknown;
	assert_null(try_sink(w, false, &err));
	assert_int_equal(err.code, ERROR_CONFIG);
	/* The failed sink has released the folder. */
	w->config.redirector.compression = compression;
	make_sink(w, false);
}

static void a_spool_that_cannot_be_had_is_no_sink(void **state)
{
	char nowhere[] = "/proc/none/spool";
	struct world *w = *state;
	struct error err = {0};

	w->config.redirector.spool_dir = nowhere;
	assert_null(try_sink(w, false, &err));
	assert_int_equal(err.code, ERROR_SYSTEM);
	w->config.redirector.spool_dir = w->dir;
}

/* --- room ------------------------------------------------------------------
 */

static enum event_taken take_long(struct world *w, size_t len)
{
	char *bytes = calloc(1, len);
	const struct taken_event event = {0, clock_real_ms(), bytes, len};
	enum event_taken taken;

	assert_non_null(bytes);
	taken = event_sink_take(w->sink, &event);
	free(bytes);
	return taken;
}

static void
what_finds_no_room_in_the_journal_is_spooled_and_counted(void **state)
{
	enum {
		EVENTS = 40,
		LEN = 60000, /* one event in a chunk; there are 16 chunks */
	};
	struct world *w = *state;
	rd_kafka_mock_cluster_t *mock;
	uint64_t without;

	w->config.kafka.queue_bytes = 64 << 20;
	w->config.redirector.spool_max_bytes = 64 << 20;
	mock = start_at_kafka(w);
	rd_kafka_mock_broker_set_rtt(mock, 1, NO_ANSWER_MS);
	for (int i = 0; i < EVENTS; i++)
		assert_int_equal(take_long(w, LEN), EVENT_TAKEN);
	without = metric_value(w->metrics.counters[COUNTER_JOURNAL_FULL]);
	assert_in_range(without, EVENTS - 16, EVENTS - 1);
	/* Kafka takes the others. */
	for (int i = 0; i < 60000 && read_spooled_count(w) < without; i++)
		usleep(1000);
	assert_int_equal(read_spooled_count(w), without);
	event_sink_end(w->sink);
	assert_int_equal(read_spooled_count(w), EVENTS);
	mock_kafka_stop(mock);
}

/* --- Kafka ------------------------------------------------------------------
 */

static void await_log(struct world *w, const char *text)
{
	for (int i = 0; i < 60000 && log_file_count(&w->log, text) == 0; i++)
		usleep(1000);
	assert_int_equal(log_file_count(&w->log, text), 1);
}

static bool is_ready(struct world *w)
{
	struct buf said = {0};
	bool ready = health_report(w->health, &said);

	buf_free(&said);
	return ready;
}

static void kafka_that_is_away_is_told(void **state)
{
	struct world *w = *state;

	make_sink(w, false);
	start_sink(w);
	await_log(w, "Kafka disconnected");
	assert_false(is_ready(w));
	assert_int_equal(log_file_count(&w->log, "Kafka connected"), 0);
}

static void kafka_that_is_there_is_told(void **state)
{
	struct world *w = *state;
	rd_kafka_mock_cluster_t *mock = start_at_kafka(w);

	await_log(w, "Kafka connected");
	assert_true(is_ready(w));
	event_sink_end(w->sink);
	mock_kafka_stop(mock);
}

/* The only event in the spool may be in Kafka, too. */
static bool is_spooled_as_sent(struct world *w)
{
	const struct spool_options options = {w->dir, 1 << 20, 0};
	struct spool_record record = {0};
	struct error err = {0};
	struct spool *spool;
	uint64_t lost;

	event_sink_end(w->sink);
	assert_int_equal(read_spooled_count(w), 1);
	spool = spool_open(&options, &err);
	if (!spool)
		fail_msg("%s", err.text);
	assert_int_equal(spool_next(spool, &record, &lost, &err), 1);
	assert_int_equal(record.len, 5);
	spool_free(spool);
	return record.maybe_sent;
}

static void what_kafka_may_have_is_marked_so(void **state)
{
	struct world *w = *state;
	rd_kafka_mock_cluster_t *mock = start_at_kafka(w);

	rd_kafka_mock_broker_set_rtt(mock, 1, NO_ANSWER_MS);
	take_event(w);
	assert_true(is_spooled_as_sent(w));
	mock_kafka_stop(mock);
}

static void what_kafka_refused_is_not_marked(void **state)
{
	struct world *w = *state;
	rd_kafka_mock_cluster_t *mock;

	/* The event stays in the spool. */
	w->config.redirector.spool_replay_rate = 0;
	mock = start_at_kafka(w);
	refuse_next_produce(mock, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
	take_event(w);
	for (int i = 0; i < 60000 && read_spooled_count(w) == 0; i++)
		usleep(1000);
	assert_false(is_spooled_as_sent(w));
	mock_kafka_stop(mock);
}

/* --- the end ---------------------------------------------------------------
 */

static void what_is_not_delivered_is_said_to_be_spooled(void **state)
{
	struct world *w = *state;
	rd_kafka_mock_cluster_t *mock = start_at_kafka(w);

	event_sink_flush(w->sink, 60000);
	assert_int_equal(log_file_count(&w->log, "click events"), 0);
	rd_kafka_mock_broker_set_rtt(mock, 1, NO_ANSWER_MS);
	take_event(w);
	event_sink_flush(w->sink, 10);
	assert_int_equal(log_file_count(&w->log, "click events spooled"), 1);
	assert_int_equal(log_file_count(&w->log, "1 messages not delivered"),
			 1);
	event_sink_end(w->sink);
	mock_kafka_stop(mock);
}

static void
what_is_not_delivered_is_said_to_be_dropped_without_a_spool(void **state)
{
	struct world *w = *state;
	rd_kafka_mock_cluster_t *mock;

	w->config.redirector.spool_dir = NULL;
	mock = start_at_kafka(w);
	event_sink_flush(w->sink, 60000);
	assert_int_equal(log_file_count(&w->log, "click events"), 0);
	rd_kafka_mock_broker_set_rtt(mock, 1, NO_ANSWER_MS);
	take_event(w);
	event_sink_flush(w->sink, 10);
	assert_int_equal(log_file_count(&w->log, "click events dropped"), 1);
	event_sink_end(w->sink);
	mock_kafka_stop(mock);
}

/* Spools events; their replay takes seconds. */
static void leave_spooled(struct world *w, size_t count)
{
	const struct spool_options options = {w->dir, 1 << 20, 0};
	struct spool_record record = {
		.time_ms = clock_real_ms(), .data = "event", .len = 5};
	struct error err = {0};
	struct spool *spool = spool_open(&options, &err);
	size_t appended;

	if (!spool)
		fail_msg("%s", err.text);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(
			spool_append(spool, &record, 1, &appended, &err), 0);
	spool_free(spool);
}

static void await_replayed(struct world *w)
{
	struct metric *replayed = w->metrics.counters[COUNTER_REPLAYED];

	for (int i = 0; i < 60000 && metric_value(replayed) == 0; i++)
		usleep(1000);
	assert_true(metric_value(replayed) > 0);
}

static rd_kafka_mock_cluster_t *begin_to_replay(struct world *w)
{
	rd_kafka_mock_cluster_t *mock = make_kafka(w);

	leave_spooled(w, 5000);
	w->config.redirector.spool_replay_rate = 200;
	w->config.kafka.queue_messages = 10000;
	make_sink(w, false);
	start_sink(w);
	await_replayed(w);
	return mock;
}

static void nothing_is_replayed_once_the_producer_goes(void **state)
{
	struct world *w = *state;
	rd_kafka_mock_cluster_t *mock = begin_to_replay(w);

	is_watched = true;
	event_sink_end(w->sink);
	is_watched = false;
	assert_true(goes);
	assert_int_equal(used_late, 0);
	mock_kafka_stop(mock);
}

/* --- refused events ---------------------------------------------------------
 */

static void a_sink_without_a_spool_takes_what_kafkas_queue_does(void **state)
{
	struct world *w = *state;
	const struct taken_event event = {0, clock_real_ms(), "event", 5};

	w->config.redirector.spool_dir = NULL;
	make_sink(w, false);
	start_sink(w);
	assert_true(is_said(w, "memory holds 100 events"));
	assert_int_equal(log_file_count(&w->log, "there is no spool_dir"), 1);
	for (int i = 0; i < 100; i++)
		take_event(w);
	assert_int_equal(event_sink_take(w->sink, &event), EVENT_NO_ROOM);
	event_sink_end(w->sink);
	assert_int_equal(count_in_all_hours(w, HOUR_UNDELIVERED), 100);
}

static void what_is_too_large_for_kafkas_client_is_refused(void **state)
{
	struct world *w = *state;

	w->config.redirector.spool_dir = NULL;
	make_sink(w, false);
	start_sink(w);
	assert_int_equal(take_long(w, 2 << 20), EVENT_REFUSED);
	assert_int_equal(count_in_all_hours(w, HOUR_UNDELIVERED), 0);
}

/* Kafka would refuse the event from the next process, too. */
static void what_is_refused_is_not_left_in_the_journal(void **state)
{
	char small[] = "message.max.bytes=1000", batch[] = "batch.size=1000";
	char *options[] = {small, batch};
	struct world *w = *state;
	rd_kafka_mock_cluster_t *mock;

	w->config.kafka.options = (struct setting_strings){options, 2};
	mock = start_at_kafka(w);
	assert_int_equal(take_long(w, 2000), EVENT_REFUSED);
	event_sink_end(w->sink);
	assert_int_equal(count_journals(w), 0);
	assert_int_equal(read_spooled_count(w), 0);
	assert_int_equal(count_in_all_hours(w, HOUR_UNDELIVERED), 0);
	mock_kafka_stop(mock);
}

static void what_finds_no_room_in_kafkas_queue_is_spooled(void **state)
{
	struct world *w = *state;
	rd_kafka_mock_cluster_t *mock = start_at_kafka(w);

	rd_kafka_mock_broker_set_rtt(mock, 1, NO_ANSWER_MS);
	for (int i = 0; i < 150; i++)
		take_event(w);
	for (int i = 0; i < 60000 && read_spooled_count(w) < 50; i++)
		usleep(1000);
	/* Kafka's client may still release the event before. */
	assert_in_range(read_spooled_count(w), 50, 51);
	event_sink_end(w->sink);
	assert_int_equal(read_spooled_count(w), 150);
	assert_int_equal(count_journals(w), 0);
	mock_kafka_stop(mock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		EVENT_SINK_TEST(a_sink_without_a_producer_is_none),
		EVENT_SINK_TEST(a_spool_that_cannot_be_had_is_no_sink),
		EVENT_SINK_TEST(
			what_finds_no_room_in_the_journal_is_spooled_and_counted),
		EVENT_SINK_TEST(kafka_that_is_away_is_told),
		EVENT_SINK_TEST(kafka_that_is_there_is_told),
		EVENT_SINK_TEST(what_kafka_may_have_is_marked_so),
		EVENT_SINK_TEST(what_kafka_refused_is_not_marked),
		EVENT_SINK_TEST(what_is_not_delivered_is_said_to_be_spooled),
		EVENT_SINK_TEST(
			what_is_not_delivered_is_said_to_be_dropped_without_a_spool),
		EVENT_SINK_TEST(nothing_is_replayed_once_the_producer_goes),
		EVENT_SINK_TEST(
			a_sink_without_a_spool_takes_what_kafkas_queue_does),
		EVENT_SINK_TEST(what_is_too_large_for_kafkas_client_is_refused),
		EVENT_SINK_TEST(what_is_refused_is_not_left_in_the_journal),
		EVENT_SINK_TEST(what_finds_no_room_in_kafkas_queue_is_spooled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
