/* Kafka gets the spooled events after its return, and none after the end. */
#include "tests/unit/redirector/event_spool_world.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#include "common/spool/segment.h"
#include "redirector/events/replay.h"

/* Replaces libc's function: the disk is slow once, for as long as `waited_for`
 * is not set, and a while longer. */
static atomic_bool sync_is_slow, syncing, waited_for;

int fdatasync(int fd)
{
	if (atomic_exchange(&sync_is_slow, false)) {
		syncing = true;
		while (!waited_for)
			usleep(1000);
		usleep(200000);
	}
	return (int)syscall(SYS_fdatasync, fd);
}

/* Reading events fails; headers of segments can still be read. */
static atomic_bool read_fails;
static atomic_size_t tries;

ssize_t pread(int fd, void *to, size_t size, off_t at)
{
	if (read_fails && at >= SEGMENT_HEADER_SIZE) {
		tries++;
		errno = EIO;
		return -1;
	}
	return (ssize_t)syscall(SYS_pread64, fd, to, size, at);
}

/* Replaces the producer's function: Kafka has the event at once, unless the
 * queue is full. */
static atomic_size_t produced;
static atomic_bool queue_is_full;

int kafka_produce(struct kafka_producer *p, const void *key, size_t key_len,
		  const void *payload, size_t len, void *opaque,
		  struct error *err)
{
	(void)p;
	(void)key;
	(void)key_len;
	(void)payload;
	(void)len;
	atomic_fetch_add(&produced, 1);
	if (queue_is_full)
		return error_set(err, ERROR_FULL, "its queue is full");
	replay_on_delivery(opaque, NULL);
	return 0;
}

/* The producer is freed next. */
static void nothing_is_produced_once_replaying_was_stopped(void **state)
{
	struct world *w = *state;
	size_t at_stop;

	offer_events(w, 50, 100);
	event_spool_kafka_changed(w->spool, true);
	sync_is_slow = true;
	start_spool(w);
	for (int i = 0; i < 20000 && !syncing; i++)
		usleep(1000);
	/* The thread is about to pass the first event on. */
	assert_true(syncing);
	assert_int_equal(produced, 0);
	waited_for = true;
	event_spool_stop_replay(w->spool);
	at_stop = produced;
	event_spool_stop_replay(w->spool);
	event_spool_end(w->spool);
	assert_int_equal(produced, at_stop);
	assert_int_equal(metric_of(w, COUNTER_REPLAYED), at_stop);
	assert_int_equal(metric_value(w->metrics.spool_events), 50 - at_stop);
}

static void await_produced(size_t wanted)
{
	for (int i = 0; i < 20000 && produced < wanted; i++)
		usleep(1000);
	assert_true(produced >= wanted);
}

/* Until then, events that the producer refused are retried every 100 ms. */
static void nothing_is_tried_again_once_replaying_was_stopped(void **state)
{
	struct world *w = *state;
	size_t at_stop;
	int64_t until;

	queue_is_full = true;
	produced = 0;
	offer_events(w, 5, 100);
	event_spool_kafka_changed(w->spool, true);
	start_spool(w);
	await_produced(2);
	event_spool_stop_replay(w->spool);
	at_stop = produced;
	until = clock_monotonic_ms() + 150;
	/* The thread makes one round for each event. */
	for (uint64_t spooled = 6; clock_monotonic_ms() < until; spooled++) {
		assert_int_equal(offer_events(w, 1, 100), 1);
		while (metric_of(w, COUNTER_SPOOLED) < spooled)
			usleep(1000);
	}
	assert_int_equal(offer_events(w, 1, 100), 1);
	event_spool_end(w->spool);
	queue_is_full = false;
	assert_int_equal(produced, at_stop);
}

static void await_replayed(struct world *w, uint64_t count)
{
	for (int i = 0; i < 60000 && metric_of(w, COUNTER_REPLAYED) < count;
	     i++)
		usleep(1000);
	assert_int_equal(metric_of(w, COUNTER_REPLAYED), count);
}

static void a_spool_that_cannot_be_read_is_tried_again_later(void **state)
{
	enum {
		EVENTS = 50,
	};
	struct world *w = *state;
	int64_t begin;
	size_t before;

	read_fails = true;
	event_spool_kafka_changed(w->spool, true);
	start_spool(w);
	assert_int_equal(offer_events(w, 1, 100), 1);
	for (int i = 0; i < 20000 && tries == 0; i++)
		usleep(1000);
	begin = clock_monotonic_ms();
	before = tries;
	/* The thread makes one round for each event. */
	for (uint64_t spooled = 2; spooled <= EVENTS; spooled++) {
		assert_int_equal(offer_events(w, 1, 100), 1);
		while (metric_of(w, COUNTER_SPOOLED) < spooled)
			usleep(1000);
	}
	if (clock_monotonic_ms() - begin < 1000)
		assert_true(tries - before < EVENTS / 2);
	assert_int_equal(metric_of(w, COUNTER_REPLAYED), 0);
	await_said(w, "cannot read a segment");
	read_fails = false;
	await_replayed(w, EVENTS);
	assert_int_equal(count_in_hour(w, HOUR_UNDELIVERED), 0);
}

static void await_taken_out(struct world *w)
{
	for (int i = 0; i < 60000 && metric_value(w->metrics.spool_events) != 0;
	     i++)
		usleep(1000);
	assert_int_equal(metric_value(w->metrics.spool_events), 0);
}

/* The spool is not ended, since that would remove finished events, too. */
static void what_kafka_has_is_taken_out_and_told(void **state)
{
	struct world *w = *state;

	offer_events(w, 3, 100);
	start_spool(w);
	await_said(w, " 3 events,");
	event_spool_kafka_changed(w->spool, true);
	await_replayed(w, 3);
	await_taken_out(w);
	assert_int_equal(
		log_file_count(&w->log, "spooled click events replayed"), 1);
	assert_int_equal(log_file_count(&w->log, " events=3"), 1);
	/* The next outage has its own number. */
	event_spool_kafka_changed(w->spool, false);
	offer_events(w, 2, 100);
	await_said(w, " 2 events,");
	assert_true(is_said(w, "; 0 replayed,"));
	assert_int_equal(log_file_count(&w->log, "spooling click events"), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		EVENT_SPOOL_TEST(
			nothing_is_produced_once_replaying_was_stopped),
		EVENT_SPOOL_TEST(
			nothing_is_tried_again_once_replaying_was_stopped),
		EVENT_SPOOL_TEST(
			a_spool_that_cannot_be_read_is_tried_again_later),
		EVENT_SPOOL_TEST(what_kafka_has_is_taken_out_and_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
