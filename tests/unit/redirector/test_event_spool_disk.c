/* A disk that fails or is full. */
#include "tests/unit/bad_disk.h"
#include "tests/unit/redirector/event_spool_world.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/syscall.h>

/* Replaces libc's functions: a disk is full, or does not keep what was written.
 */
static atomic_bool disk_is_full;
static atomic_size_t tries;

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at)
{
	if (disk_is_full) {
		tries++;
		errno = ENOSPC;
		return -1;
	}
	return (ssize_t)syscall(SYS_pwrite64, fd, bytes, size, at);
}

int fdatasync(int fd)
{
	return bad_disk_sync(fd);
}

static void a_disk_that_fails_costs_what_is_counted(void **state)
{
	struct world *w = *state;
	struct buf said = {0};

	unit_remove_dir(w->dir);
	offer_events(w, 30, 100);
	start_spool(w);
	event_spool_end(w->spool);
	assert_int_equal(count_in_hour(w, HOUR_UNDELIVERED), 30);
	assert_int_equal(count_in_hour(w, HOUR_SPOOLED), 0);
	assert_int_equal(metric_of(w, COUNTER_DROPPED_SPOOL_FAILED), 30);
	/* Visits are answered, so the health is good. */
	assert_true(health_report(w->health, &said));
	assert_non_null(strstr(buf_cstr(&said), "30 lost; spool "));
	assert_non_null(strstr(said.data, "No such file or directory"));
	buf_free(&said);
}

static uint64_t await_dropped(struct world *w, uint64_t wanted)
{
	uint64_t dropped = 0;

	for (int i = 0; i < 20000 && dropped < wanted; i++) {
		usleep(1000);
		dropped = metric_of(w, COUNTER_DROPPED_SPOOL_FAILED);
	}
	return dropped;
}

static void open_on_full_disk(struct world *w)
{
	event_spool_free(w->spool);
	disk_is_full = true;
	open_spool(w);
	start_spool(w);
}

static void a_disk_that_is_full_at_the_start_is_tried_again(void **state)
{
	struct world *w = *state;
	struct buf said = {0};

	open_on_full_disk(w);
	assert_int_equal(offer_events(w, 30, 100), 30);
	assert_int_equal(await_dropped(w, 30), 30);
	assert_false(event_spool_is_open(w->spool));
	assert_int_equal(metric_value(w->metrics.spool_missing), 1);
	assert_true(health_report(w->health, &said));
	assert_non_null(strstr(buf_cstr(&said), "No space left on device"));
	disk_is_full = false;
	await_open(w->spool);
	assert_int_equal(metric_value(w->metrics.spool_missing), 0);
	/* This happens at once, and not at the next retry. */
	assert_int_equal(offer_events(w, 7, 100), 7);
	event_spool_end(w->spool);
	assert_int_equal(count_in_hour(w, HOUR_SPOOLED), 7);
	assert_int_equal(count_in_hour(w, HOUR_UNDELIVERED), 30);
	buf_free(&said);
}

/* Kafka's thread puts failed events here, and must be free to notice Kafka's
 * return. */
static void nobody_waits_for_a_disk_that_is_full(void **state)
{
	struct world *w = *state;
	char *bytes = calloc(1, 64 << 10);
	const struct spool_event event = {
		.time_ms = TIME, .data = bytes, .len = 64 << 10};

	open_on_full_disk(w);
	alarm(60);
	for (int i = 0; i < 300; i++)
		event_spool_put(w->spool, &event);
	alarm(0);
	event_spool_end(w->spool);
	disk_is_full = false;
	assert_int_equal(count_in_hour(w, HOUR_UNDELIVERED), 300);
	free(bytes);
}

static void what_is_in_a_journal_is_lost_or_left_and_not_both(void **state)
{
	struct world *w = *state;
	struct event_journal *j = make_journal(w);
	struct spool_event event = {.time_ms = TIME, .data = "event", .len = 5};

	open_on_full_disk(w);
	event.entry = event_journal_put(j, 0, TIME, "event", 5);
	assert_true(event_spool_offer(w->spool, &event));
	assert_int_equal(await_dropped(w, 1), 1);
	event_spool_stop_replay(w->spool);
	event.entry = event_journal_put(j, 0, TIME, "event", 5);
	assert_true(event_spool_offer(w->spool, &event));
	event_spool_end(w->spool);
	disk_is_full = false;
	event_journal_free(j);
	assert_int_equal(count_in_hour(w, HOUR_UNDELIVERED), 1);
	start_again(w);
	assert_int_equal(metric_of(w, COUNTER_RECOVERED), 1);
}

/* Each event is counted in exactly one line, whenever it comes. */
static void what_is_dropped_is_said_once_in_a_while(void **state)
{
	struct world *w = *state;
	int64_t begin = clock_monotonic_ms();

	unit_remove_dir(w->dir);
	offer_events(w, 3, 100);
	start_spool(w);
	await_said(w, " 3 lost");
	offer_events(w, 4, 100);
	await_said(w, " 7 lost");
	offer_events(w, 5, 100);
	event_spool_end(w->spool);
	assert_int_equal(log_file_count(&w->log, " events=0 "), 0);
	if (clock_monotonic_ms() - begin > 9000)
		return;
	assert_int_equal(log_file_count(&w->log, "click events dropped"), 2);
	assert_int_equal(log_file_count(&w->log, " events=3 "), 1);
	assert_int_equal(log_file_count(&w->log, " events=9 "), 1);
}

/* The thread makes one round for each event, and does not use the disk for a
 * second after each failure: the disk was tried before. */
static void is_left_alone(struct world *w)
{
	enum {
		ROUNDS = 50,
	};
	const uint64_t before = metric_of(w, COUNTER_DROPPED_SPOOL_FAILED);
	const int64_t begin = clock_monotonic_ms();
	const size_t tried = tries;

	for (uint64_t i = 1; i <= ROUNDS; i++) {
		assert_int_equal(offer_events(w, 1, 100), 1);
		assert_int_equal(await_dropped(w, before + i), before + i);
	}
	if (clock_monotonic_ms() - begin < 1000)
		assert_true(tries - tried < ROUNDS / 2);
}

static void a_disk_that_is_full_is_tried_again_later(void **state)
{
	struct world *w = *state;

	start_spool(w);
	disk_is_full = true;
	assert_int_equal(offer_events(w, 1, 100), 1);
	assert_int_equal(await_dropped(w, 1), 1);
	is_left_alone(w);
	disk_is_full = false;
	for (int i = 0; i < 60000 && metric_of(w, COUNTER_SPOOLED) == 0; i++) {
		offer_events(w, 1, 100);
		usleep(1000);
	}
	assert_true(metric_of(w, COUNTER_SPOOLED) > 0);
}

static void a_folder_on_a_full_disk_is_tried_again_later(void **state)
{
	struct world *w = *state;

	open_on_full_disk(w);
	assert_int_equal(offer_events(w, 1, 100), 1);
	assert_int_equal(await_dropped(w, 1), 1);
	is_left_alone(w);
	disk_is_full = false;
	await_open(w->spool);
}

static void that_a_disk_keeps_nothing_is_told_until_it_does(void **state)
{
	struct world *w = *state;

	start_spool(w);
	sync_fails = true;
	assert_int_equal(offer_events(w, 1, 100), 1);
	await_said(w, "Input/output error");
	sync_fails = false;
	for (int i = 0; i < 60000 && is_said(w, "Input/output error"); i++)
		usleep(1000);
	assert_false(is_said(w, "Input/output error"));
	event_spool_end(w->spool);
	assert_int_equal(count_in_hour(w, HOUR_SPOOLED), 1);
	assert_int_equal(count_in_hour(w, HOUR_UNDELIVERED), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		EVENT_SPOOL_TEST(a_disk_that_fails_costs_what_is_counted),
		EVENT_SPOOL_TEST(
			a_disk_that_is_full_at_the_start_is_tried_again),
		EVENT_SPOOL_TEST(nobody_waits_for_a_disk_that_is_full),
		EVENT_SPOOL_TEST(
			what_is_in_a_journal_is_lost_or_left_and_not_both),
		EVENT_SPOOL_TEST(what_is_dropped_is_said_once_in_a_while),
		EVENT_SPOOL_TEST(a_disk_that_is_full_is_tried_again_later),
		EVENT_SPOOL_TEST(a_folder_on_a_full_disk_is_tried_again_later),
		EVENT_SPOOL_TEST(
			that_a_disk_keeps_nothing_is_told_until_it_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
