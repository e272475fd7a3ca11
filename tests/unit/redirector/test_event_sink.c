/* The journal on a disk that fails, and events when Kafka's client fails. */
#include "tests/unit/bad_disk.h"
#include "tests/unit/redirector/event_sink_world.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#include "common/spool/spool.h"

/* Replaces libc's functions: a disk has no room for a journal, or does not keep
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

/* Leaves journals of processes that were killed. */
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

/* The sink retries, and each try has a file until it finds no room: so a moment
 * without a file is awaited. */
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
	start_sink(w);
	assert_int_equal(metric_value(w->metrics.journal_missing), 1);
	assert_true(is_said(w, why));
	take_event(w);
	assert_true(are_journals_seen_gone(w));
	disk_is_full = false;
	/* The journal is counted before its message is removed. */
	for (int i = 0; i < 20000 && is_said(w, why); i++)
		usleep(1000);
	assert_false(is_said(w, why));
	assert_int_equal(metric_value(w->metrics.journal_missing), 0);
	assert_int_equal(count_journals(w), 1);
	for (int i = 0;
	     i < 20000 &&
	     log_file_count(&w->log, "journal of click events made") == 0;
	     i++)
		usleep(1000);
	assert_int_equal(
		log_file_count(&w->log, "journal of click events made"), 1);
	take_event(w);
	event_sink_end(w->sink);
	/* Both events are in the spool, and the journals are gone. */
	assert_int_equal(metric_value(w->metrics.counters[COUNTER_SPOOLED]), 2);
	assert_int_equal(count_journals(w), 0);
}

/* The spool may be too full to take the events. */
static void
what_others_left_keeps_nobody_with_the_folder_from_starting(void **state)
{
	struct world *w = *state;

	make_sink(w, false);
	leave_journals(w, JOURNAL_FILES_MAX);
	sync_fails = true;
	start_sink(w);
	assert_int_equal(count_journals(w), JOURNAL_FILES_MAX);
	assert_int_equal(metric_value(w->metrics.journal_missing), 1);
	assert_true(is_said(w, "there are 16 journals"));
	take_event(w);
	sync_fails = false;
}

/* The other process serves visits. */
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

static void a_client_of_kafkas_that_fails_for_good_costs_no_event(void **state)
{
	struct world *w = *state;
	rd_kafka_mock_cluster_t *mock = start_at_kafka(w);

	refuse_next_produce(mock,
			    RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER);
	for (int i = 0; i < 50; i++) {
		take_event(w);
		usleep(1000);
	}
	await_counted(w, HOUR_ACKNOWLEDGED, 51);
	/* The spool sent the events that were under way. */
	assert_true(metric_value(w->metrics.counters[COUNTER_REPLAYED]) > 0);
	assert_int_equal(count_in_all_hours(w, HOUR_UNDELIVERED), 0);
	event_sink_end(w->sink);
	mock_kafka_stop(mock);
}

/* Otherwise Kafka's queue would keep the events for an hour. */
static void while_kafka_is_away_an_event_goes_to_the_spool_at_once(void **state)
{
	struct world *w = *state;

	make_sink(w, false);
	start_sink(w);
	/* The first events are accepted before the outage is known. */
	for (int i = 0; i < 60000 && read_spooled_count(w) == 0; i++) {
		take_event(w);
		usleep(1000);
	}
	assert_true(read_spooled_count(w) > 0);
}

static void what_kafka_takes_is_not_spooled(void **state)
{
	struct world *w = *state;
	rd_kafka_mock_cluster_t *mock = start_at_kafka(w);

	for (uint64_t n = 2; n <= 3; n++) {
		take_event(w);
		await_counted(w, HOUR_ACKNOWLEDGED, n);
	}
	event_sink_end(w->sink);
	assert_int_equal(read_spooled_count(w), 0);
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
		take_event(w);
	event_sink_end(w->sink);
	assert_int_equal(read_spooled_count(w), EVENTS);
	assert_int_equal(count_in_all_hours(w, HOUR_ACKNOWLEDGED), 1);
	assert_int_equal(count_in_all_hours(w, HOUR_UNDELIVERED), 0);
	assert_int_equal(count_journals(w), 0);
	mock_kafka_stop(mock);
}

static void await_undelivered(struct world *w, uint64_t count)
{
	await_counted(w, HOUR_UNDELIVERED, count);
	event_sink_end(w->sink);
	assert_int_equal(count_in_all_hours(w, HOUR_UNDELIVERED), count);
	assert_int_equal(
		metric_value(w->metrics.counters[COUNTER_DROPPED_EXPIRED]),
		count);
	assert_int_equal(count_in_all_hours(w, HOUR_ACKNOWLEDGED), 0);
}

static void what_kafka_did_not_take_in_time_is_undelivered_once(void **state)
{
	struct world *w = *state;

	w->config.redirector.spool_dir = NULL;
	w->config.redirector.delivery_timeout = CLOCK_SECOND;
	make_sink(w, false);
	start_sink(w);
	for (int i = 0; i < 3; i++)
		take_event(w);
	await_undelivered(w, 3);
}

static void
what_is_too_large_for_kafka_is_undelivered_and_not_spooled(void **state)
{
	struct world *w = *state;
	rd_kafka_mock_cluster_t *mock = make_kafka(w);

	make_sink(w, false);
	start_sink(w);
	refuse_next_produce(mock, RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE);
	take_event(w);
	await_undelivered(w, 1);
	assert_int_equal(count_in_all_hours(w, HOUR_SPOOLED), 0);
	mock_kafka_stop(mock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		EVENT_SINK_TEST(a_journal_that_has_no_room_is_made_later),
		EVENT_SINK_TEST(
			what_others_left_keeps_nobody_with_the_folder_from_starting),
		EVENT_SINK_TEST(
			what_others_left_ends_a_start_in_the_folder_of_another),
		EVENT_SINK_TEST(
			a_client_of_kafkas_that_fails_for_good_costs_no_event),
		EVENT_SINK_TEST(
			while_kafka_is_away_an_event_goes_to_the_spool_at_once),
		EVENT_SINK_TEST(what_kafka_takes_is_not_spooled),
		EVENT_SINK_TEST(
			what_kafka_has_not_answered_at_the_end_is_in_the_spool),
		EVENT_SINK_TEST(
			what_kafka_did_not_take_in_time_is_undelivered_once),
		EVENT_SINK_TEST(
			what_is_too_large_for_kafka_is_undelivered_and_not_spooled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
