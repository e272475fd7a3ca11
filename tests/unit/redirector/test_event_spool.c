#include "tests/unit/bad_disk.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "common/app/health.h"
#include "common/clock.h"
#include "common/metrics/metrics.h"
#include "common/spool/spool.h"
#include "redirector/event_spool.h"
#include "redirector/replay.h"

#define HOUR INT64_C(490000)
#define TIME (HOUR * HOUR_MS + 1)

/* In place of libc's: a disk that is full, does not keep what was written, or
 * is slow for once: as long as `waited_for` is not set, and a while longer.
 */
static atomic_bool disk_is_full, sync_is_slow, syncing, waited_for;

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at)
{
	if (disk_is_full) {
		errno = ENOSPC;
		return -1;
	}
	return (ssize_t)syscall(SYS_pwrite64, fd, bytes, size, at);
}

int fdatasync(int fd)
{
	if (!sync_fails && atomic_exchange(&sync_is_slow, false)) {
		syncing = true;
		while (!waited_for)
			usleep(1000);
		usleep(200000);
	}
	return bad_disk_sync(fd);
}

/* In place of the producer's: Kafka has it at once, unless its queue is full.
 */
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

/* Kafka is away, unless a test says otherwise.  A spool in a folder of its own.
 */
struct world {
	char parent[64], dir[80];
	struct redirector_settings settings;
	struct redirector_metrics metrics;
	struct hour_totals totals;
	struct hour_writer hours;
	struct metrics *registry;
	struct health *health;
	struct event_spool *spool;
};

static struct event_spool *new_spool(struct world *w, bool awaits_folder,
				     struct error *err)
{
	const struct event_spool_options options = {
		.settings = &w->settings,
		.metrics = &w->metrics,
		.hours = &w->hours,
		.health = health_register(w->health, "spool"),
		.awaits_folder = awaits_folder,
	};

	return event_spool_new(&options, err);
}

static void open_spool(struct world *w)
{
	struct error err = {0};

	w->spool = new_spool(w, false, &err);
	if (!w->spool)
		fail_msg("%s", err.text);
	event_spool_kafka_changed(w->spool, false);
}

static int make_world(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	snprintf(w->parent, sizeof(w->parent), "/tmp/shortloop-spool-XXXXXX");
	assert_non_null(mkdtemp(w->parent));
	snprintf(w->dir, sizeof(w->dir), "%s/spool", w->parent);
	w->settings.spool_dir = w->dir;
	w->settings.spool_max_bytes = 1 << 20;
	w->settings.spool_replay_rate = 1000;
	w->registry = metrics_new();
	w->health = health_new();
	redirector_metrics_register(&w->metrics, w->registry);
	hour_writer_init(&w->hours, &w->totals);
	open_spool(w);
	*state = w;
	return 0;
}

static int drop_world(void **state)
{
	struct world *w = *state;

	event_spool_free(w->spool);
	hour_writer_destroy(&w->hours);
	health_free(w->health);
	metrics_free(w->registry);
	unit_remove_dir(w->parent);
	free(w);
	return 0;
}

static void start(struct world *w)
{
	struct error err;

	assert_int_equal(event_spool_start(w->spool, NULL, &err), 0);
}

/* What was counted of the hour, since the start. */
static uint64_t counted(struct world *w, enum hour_counter which)
{
	struct hour_table table = {0};
	const struct hour_counts *found;

	hour_totals_add_to(&w->totals, &table);
	found = hour_table_find(&table, HOUR);
	return found ? found->n[which] : 0;
}

static uint64_t metric_of(struct world *w, enum redirector_counter which)
{
	return metric_value(w->metrics.counters[which]);
}

static size_t offer(struct world *w, size_t count, size_t len)
{
	char *event = calloc(1, len);
	size_t taken = 0;

	for (size_t i = 0; i < count; i++)
		taken += event_spool_offer(w->spool, &(struct spool_event){
							     .time_ms = TIME,
							     .data = event,
							     .len = len,
						     });
	free(event);
	return taken;
}

static void what_is_taken_is_spooled_before_it_ends(void **state)
{
	struct world *w = *state;
	const struct spool_options options = {w->dir, 1 << 20, 0};
	struct spool_usage u;
	struct spool *files;
	struct error err;

	start(w);
	assert_int_equal(offer(w, 100, 300), 100);
	event_spool_put(w->spool, &(struct spool_event){
					  .time_ms = TIME,
					  .maybe_sent = true,
					  .data = "last",
					  .len = 4,
				  });
	event_spool_end(w->spool);
	assert_int_equal(counted(w, HOUR_SPOOLED), 101);
	assert_int_equal(counted(w, HOUR_UNDELIVERED), 0);
	assert_int_equal(metric_of(w, COUNTER_SPOOLED), 101);
	assert_int_equal(metric_value(w->metrics.spool_events), 101);
	event_spool_free(w->spool);
	w->spool = NULL;
	files = spool_open(&options, &err);
	assert_non_null(files);
	spool_usage(files, &u);
	assert_int_equal(u.records, 101);
	assert_int_equal(u.next_ms, TIME);
	spool_free(files);
}

static void its_queue_takes_so_much_and_nobody_waits(void **state)
{
	struct world *w = *state;
	size_t taken;

	/* Nobody writes: the thread has not begun. */
	taken = offer(w, 1000, 64 << 10);
	assert_true(taken > 100 && taken < 128);
	/* Refused, not taken and lost: whoever offered them counts them. */
	assert_int_equal(counted(w, HOUR_UNDELIVERED), 0);
}

static void what_is_beyond_the_spools_bound_is_undelivered(void **state)
{
	struct world *w = *state;
	size_t taken, spooled;

	taken = offer(w, 40, 64 << 10);
	assert_int_equal(taken, 40);
	start(w);
	event_spool_end(w->spool);
	spooled = counted(w, HOUR_SPOOLED);
	assert_int_equal(spooled, 15);
	assert_int_equal(counted(w, HOUR_UNDELIVERED), taken - spooled);
	assert_int_equal(metric_of(w, COUNTER_DROPPED_SPOOL_FULL),
			 taken - spooled);
}

static void a_disk_that_fails_costs_what_is_counted(void **state)
{
	struct world *w = *state;
	struct buf said = {0};

	unit_remove_dir(w->dir);
	offer(w, 30, 100);
	start(w);
	event_spool_end(w->spool);
	assert_int_equal(counted(w, HOUR_UNDELIVERED), 30);
	assert_int_equal(counted(w, HOUR_SPOOLED), 0);
	assert_int_equal(metric_of(w, COUNTER_DROPPED_SPOOL_FAILED), 30);
	/* Visitors are served: that is ready. */
	assert_true(health_report(w->health, &said));
	assert_non_null(strstr(buf_cstr(&said), "30 lost; spool "));
	assert_non_null(strstr(said.data, "No such file or directory"));
	buf_free(&said);
}

static void a_former_ones_events_are_told_at_once(void **state)
{
	struct world *w = *state;
	struct buf said = {0};

	start(w);
	offer(w, 7, 100);
	event_spool_free(w->spool);
	open_spool(w);
	assert_int_equal(metric_value(w->metrics.spool_events), 7);
	assert_true(metric_value(w->metrics.spool_oldest) >=
		    (uint64_t)(clock_real_ms() - TIME) / 1000 - 60);
	assert_true(health_report(w->health, &said));
	assert_non_null(strstr(buf_cstr(&said), " 7 events, "));
	buf_free(&said);
}

/* --- the folder of another process -----------------------------------------
 */

static void a_folder_in_use_is_refused(void **state)
{
	struct error err = {0};

	assert_null(new_spool(*state, false, &err));
	assert_int_equal(err.code, ERROR_BUSY);
}

static struct event_journal *make_journal(struct world *w)
{
	const struct event_journal_options options = {w->dir, 1, 1 << 20, 1000};
	struct error err = {0};
	struct event_journal *j = event_journal_new(&options, &err);

	if (!j)
		fail_msg("%s", err.text);
	return j;
}

static void put(struct event_journal *j, size_t count)
{
	for (size_t i = 0; i < count; i++)
		assert_non_null(event_journal_put(j, 0, TIME, "event", 5));
}

/* Starts one that waits for the folder, and offers it some events; with entries
 * in the journal, if there is one. */
static struct event_spool *successor(struct world *w, size_t count,
				     struct event_journal *j)
{
	struct error err = {0};
	struct event_spool *next = new_spool(w, true, &err);

	if (!next)
		fail_msg("%s", err.text);
	event_spool_kafka_changed(next, false);
	assert_int_equal(event_spool_start(next, NULL, &err), 0);
	for (size_t i = 0; i < count; i++)
		assert_true(event_spool_offer(
			next, &(struct spool_event){
				      .time_ms = TIME,
				      .entry = j ? event_journal_put(j, 0, TIME,
								     "event", 5)
						 : NULL,
				      .data = "event",
				      .len = 5,
			      }));
	return next;
}

static void await_open(struct event_spool *s)
{
	for (int i = 0; i < 20000 && !event_spool_is_open(s); i++)
		usleep(1000);
	assert_true(event_spool_is_open(s));
}

static void one_that_is_about_to_be_left_is_awaited(void **state)
{
	struct world *w = *state;
	struct event_spool *next = successor(w, 9, NULL);
	struct buf said = {0};

	assert_false(event_spool_is_open(next));
	assert_true(health_report(w->health, &said));
	assert_non_null(strstr(buf_cstr(&said), "in use by process "));
	start(w);
	assert_int_equal(offer(w, 4, 100), 4);
	event_spool_free(w->spool);
	w->spool = next;
	await_open(next);
	event_spool_end(next);
	assert_int_equal(counted(w, HOUR_SPOOLED), 9 + 4);
	assert_int_equal(counted(w, HOUR_UNDELIVERED), 0);
	assert_int_equal(metric_value(w->metrics.spool_events), 9 + 4);
	buf_free(&said);
}

static void one_that_is_never_left_costs_what_is_counted(void **state)
{
	struct world *w = *state;
	struct event_spool *next = successor(w, 9, NULL);

	event_spool_end(next);
	assert_int_equal(counted(w, HOUR_SPOOLED), 0);
	assert_int_equal(counted(w, HOUR_UNDELIVERED), 9);
	assert_int_equal(metric_of(w, COUNTER_DROPPED_SPOOL_FAILED), 9);
	event_spool_free(next);
}

/* Of Kafka's thread, which gives up what it has at the end. */
static void nobody_waits_for_it_at_the_end(void **state)
{
	struct world *w = *state;
	struct event_spool *next = successor(w, 0, NULL);
	char *bytes = calloc(1, 64 << 10);
	const struct spool_event event = {
		.time_ms = TIME, .data = bytes, .len = 64 << 10};

	while (event_spool_offer(next, &event))
		;
	event_spool_stop_replay(next);
	alarm(60);
	event_spool_put(next, &event);
	alarm(0);
	assert_int_equal(counted(w, HOUR_UNDELIVERED), 1);
	event_spool_free(next);
	free(bytes);
}

/* Killed while it drains, say. */
static void what_a_former_one_left_is_recovered_with_the_folder(void **state)
{
	struct world *w = *state;
	struct event_spool *next = successor(w, 0, NULL);
	struct event_journal *former = make_journal(w),
			     *lives = make_journal(w);

	put(former, 7);
	put(lives, 5);
	event_journal_free(former);
	assert_int_equal(metric_of(w, COUNTER_RECOVERED), 0);
	event_spool_free(w->spool);
	w->spool = next;
	await_open(next);
	assert_int_equal(metric_of(w, COUNTER_RECOVERED), 7);
	assert_int_equal(counted(w, HOUR_SPOOLED), 7);
	event_journal_free(lives);
}

static void what_was_left_is_recovered_at_the_start(void **state)
{
	struct world *w = *state;
	struct event_journal *former = make_journal(w);

	put(former, 7);
	event_journal_free(former);
	event_spool_recover(w->spool);
	assert_int_equal(counted(w, HOUR_SPOOLED), 7);
	event_spool_recover(w->spool);
	assert_int_equal(counted(w, HOUR_SPOOLED), 7);
}

/* What has an entry is neither spooled nor lost by one that gets no folder: it
 * is for the next one. */
static void
one_that_is_never_left_costs_nothing_that_is_in_a_journal(void **state)
{
	struct world *w = *state;
	struct event_journal *j = make_journal(w);
	struct event_spool *next = successor(w, 9, j);

	event_spool_stop_replay(next);
	event_spool_free(next);
	event_journal_free(j);
	assert_int_equal(counted(w, HOUR_UNDELIVERED), 0);
	event_spool_recover(w->spool);
	assert_int_equal(metric_of(w, COUNTER_RECOVERED), 9);
	assert_int_equal(counted(w, HOUR_SPOOLED), 9);
}

/* Whoever ends Kafka's client waits for it: it must not wait for room that only
 * the folder would give. */
static void nobody_waits_for_room_at_the_end_of_one_without_folder(void **state)
{
	struct world *w = *state;
	struct event_journal *j = make_journal(w);
	struct event_spool *next = successor(w, 0, NULL);
	char *event = calloc(1, 64 << 10);

	event_spool_stop_replay(next);
	for (int i = 0; i < 200; i++)
		event_spool_put(next, &(struct spool_event){
					      .time_ms = TIME,
					      .entry = event_journal_put(
						      j, 0, TIME, "event", 5),
					      .data = event,
					      .len = 64 << 10,
				      });
	event_spool_free(next);
	event_journal_free(j);
	free(event);
	assert_int_equal(counted(w, HOUR_UNDELIVERED), 0);
}

/* --- a spool that cannot take what others left -----------------------------
 */

enum {
	LEFT = 600, /* of 1000 bytes each: less than a spool of 1 MiB has room
		     * for, and more than is left beside ROOM_TAKEN of 64 KiB */
	ROOM_TAKEN = 10,
};

/* Each of its events is another. */
static void leave_journal(struct world *w, size_t count)
{
	struct event_journal *j = make_journal(w);
	char event[1000] = "";

	for (size_t i = 0; i < count; i++) {
		memcpy(event, &i, sizeof(i));
		assert_non_null(event_journal_put(j, 0, TIME + (int64_t)i,
						  event, sizeof(event)));
	}
	event_journal_free(j);
}

/* Leaves room for some of LEFT. */
static void fill_most(struct world *w)
{
	assert_int_equal(offer(w, ROOM_TAKEN, 64 << 10), ROOM_TAKEN);
	start(w);
	event_spool_end(w->spool);
	assert_int_equal(counted(w, HOUR_SPOOLED), ROOM_TAKEN);
}

static void start_again(struct world *w)
{
	event_spool_free(w->spool);
	open_spool(w);
	event_spool_recover(w->spool);
}

/* Reads all that the files have, and takes it away, as Kafka would: how many of
 * a journal, of which none may come twice, and all have to be marked. */
static size_t take_away(struct world *w, bool seen[LEFT])
{
	const struct spool_options options = {w->dir, 1 << 20, 0};
	struct spool_record record;
	struct spool *files;
	struct error err;
	uint64_t lost;
	size_t count = 0, i;

	event_spool_free(w->spool);
	w->spool = NULL;
	files = spool_open(&options, &err);
	assert_non_null(files);
	while (spool_next(files, &record, &lost, &err) > 0) {
		assert_int_equal(lost, 0);
		if (record.len != 1000)
			continue;
		memcpy(&i, record.data, sizeof(i));
		assert_true(i < LEFT && !seen[i]);
		assert_true(record.maybe_sent);
		seen[i] = true;
		count++;
	}
	spool_acknowledge(files, spool_next_number(files));
	spool_free(files);
	open_spool(w);
	return count;
}

static void what_a_full_spool_cannot_take_stays_in_its_journal(void **state)
{
	struct world *w = *state;
	bool seen[LEFT] = {false};
	uint64_t some;
	size_t first;

	fill_most(w);
	leave_journal(w, LEFT);
	start_again(w);
	some = metric_of(w, COUNTER_RECOVERED);
	assert_true(some > LEFT / 4 && some < LEFT);
	/* However often it starts. */
	for (int i = 0; i < 3; i++)
		start_again(w);
	assert_int_equal(metric_of(w, COUNTER_RECOVERED), some);
	assert_int_equal(counted(w, HOUR_UNDELIVERED), 0);
	assert_int_equal(counted(w, HOUR_SPOOLED), ROOM_TAKEN + some);
	assert_int_equal(metric_of(w, COUNTER_DROPPED_SPOOL_FULL), 0);
	first = take_away(w, seen);
	assert_int_equal(first, some);
	event_spool_recover(w->spool);
	assert_int_equal(first + take_away(w, seen), LEFT);
	assert_int_equal(metric_of(w, COUNTER_RECOVERED), LEFT);
	event_spool_recover(w->spool);
	assert_int_equal(metric_of(w, COUNTER_RECOVERED), LEFT);
}

static void that_a_journal_waits_for_room_is_told(void **state)
{
	struct world *w = *state;
	struct buf said = {0};

	fill_most(w);
	leave_journal(w, LEFT);
	start_again(w);
	assert_true(health_report(w->health, &said));
	assert_non_null(strstr(buf_cstr(&said), "journal-"));
	assert_non_null(strstr(said.data, "the spool is full"));
	buf_free(&said);
}

static void what_a_failing_disk_cannot_take_stays_in_its_journal(void **state)
{
	struct world *w = *state;
	struct rlimit before, none;

	leave_journal(w, 7);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	/* What comes by the queue is lost, and the disk is left alone then. */
	offer(w, 1, 100);
	start(w);
	event_spool_end(w->spool);
	event_spool_recover(w->spool);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(counted(w, HOUR_UNDELIVERED), 1);
	assert_int_equal(counted(w, HOUR_SPOOLED), 0);
	event_spool_recover(w->spool);
	assert_int_equal(counted(w, HOUR_UNDELIVERED), 1);
	assert_int_equal(counted(w, HOUR_SPOOLED), 7);
}

static void a_journal_stays_until_the_spool_is_on_the_disk(void **state)
{
	struct world *w = *state;
	bool seen[LEFT] = {false};

	leave_journal(w, 7);
	sync_fails = true;
	event_spool_recover(w->spool);
	sync_fails = false;
	assert_int_equal(take_away(w, seen), 7);
	/* What was written then need not be there after a loss of power. */
	memset(seen, 0, sizeof(seen));
	event_spool_recover(w->spool);
	assert_int_equal(take_away(w, seen), 7);
	event_spool_recover(w->spool);
	memset(seen, 0, sizeof(seen));
	assert_int_equal(take_away(w, seen), 0);
}

/* --- a disk that is full at the start ----------------------------------------
 */

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
	start(w);
}

static void a_disk_that_is_full_at_the_start_is_tried_again(void **state)
{
	struct world *w = *state;
	struct buf said = {0};

	open_on_full_disk(w);
	assert_int_equal(offer(w, 30, 100), 30);
	assert_int_equal(await_dropped(w, 30), 30);
	assert_false(event_spool_is_open(w->spool));
	assert_int_equal(metric_value(w->metrics.spool_missing), 1);
	assert_true(health_report(w->health, &said));
	assert_non_null(strstr(buf_cstr(&said), "No space left on device"));
	disk_is_full = false;
	await_open(w->spool);
	assert_int_equal(metric_value(w->metrics.spool_missing), 0);
	/* At once, and not when it would have been tried again. */
	assert_int_equal(offer(w, 7, 100), 7);
	event_spool_end(w->spool);
	assert_int_equal(counted(w, HOUR_SPOOLED), 7);
	assert_int_equal(counted(w, HOUR_UNDELIVERED), 30);
	buf_free(&said);
}

/* Kafka's thread gives events up by it, and has to hear of Kafka's return. */
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
	assert_int_equal(counted(w, HOUR_UNDELIVERED), 300);
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
	assert_int_equal(counted(w, HOUR_UNDELIVERED), 1);
	start_again(w);
	assert_int_equal(metric_of(w, COUNTER_RECOVERED), 1);
}

/* --- replaying -------------------------------------------------------------
 */

/* Whoever stops it frees the producer next. */
static void nothing_is_produced_once_replaying_was_stopped(void **state)
{
	struct world *w = *state;
	size_t at_stop;

	offer(w, 50, 100);
	event_spool_kafka_changed(w->spool, true);
	sync_is_slow = true;
	start(w);
	for (int i = 0; i < 20000 && !syncing; i++)
		usleep(1000);
	/* It is about to hand the first one over. */
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

/* Events that the producer did not take are tried again every 100 ms until
 * then. */
static void nothing_is_tried_again_once_replaying_was_stopped(void **state)
{
	struct world *w = *state;
	size_t at_stop;
	int64_t until;

	queue_is_full = true;
	produced = 0;
	offer(w, 5, 100);
	event_spool_kafka_changed(w->spool, true);
	start(w);
	await_produced(2);
	event_spool_stop_replay(w->spool);
	at_stop = produced;
	until = clock_monotonic_ms() + 150;
	/* The thread goes round once for each. */
	for (uint64_t spooled = 6; clock_monotonic_ms() < until; spooled++) {
		assert_int_equal(offer(w, 1, 100), 1);
		while (metric_of(w, COUNTER_SPOOLED) < spooled)
			usleep(1000);
	}
	assert_int_equal(offer(w, 1, 100), 1);
	event_spool_end(w->spool);
	queue_is_full = false;
	assert_int_equal(produced, at_stop);
}

/* Somebody has to edit a file. */
static void a_folder_that_cannot_be_had_is_refused(void **state)
{
	struct world *w = *state;
	char nowhere[] = "/proc/none/spool";
	struct error err = {0};

	w->settings.spool_dir = nowhere;
	assert_null(new_spool(w, true, &err));
	assert_int_equal(err.code, ERROR_SYSTEM);
	w->settings.spool_dir = w->dir;
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_world, drop_world)
	const struct CMUnitTest tests[] = {
		TEST(what_is_taken_is_spooled_before_it_ends),
		TEST(its_queue_takes_so_much_and_nobody_waits),
		TEST(what_is_beyond_the_spools_bound_is_undelivered),
		TEST(a_disk_that_fails_costs_what_is_counted),
		TEST(a_former_ones_events_are_told_at_once),
		TEST(a_folder_in_use_is_refused),
		TEST(one_that_is_about_to_be_left_is_awaited),
		TEST(one_that_is_never_left_costs_what_is_counted),
		TEST(nobody_waits_for_it_at_the_end),
		TEST(what_a_former_one_left_is_recovered_with_the_folder),
		TEST(what_was_left_is_recovered_at_the_start),
		TEST(one_that_is_never_left_costs_nothing_that_is_in_a_journal),
		TEST(nobody_waits_for_room_at_the_end_of_one_without_folder),
		TEST(what_a_full_spool_cannot_take_stays_in_its_journal),
		TEST(that_a_journal_waits_for_room_is_told),
		TEST(what_a_failing_disk_cannot_take_stays_in_its_journal),
		TEST(a_journal_stays_until_the_spool_is_on_the_disk),
		TEST(a_disk_that_is_full_at_the_start_is_tried_again),
		TEST(nobody_waits_for_a_disk_that_is_full),
		TEST(what_is_in_a_journal_is_lost_or_left_and_not_both),
		TEST(a_folder_that_cannot_be_had_is_refused),
		TEST(nothing_is_produced_once_replaying_was_stopped),
		TEST(nothing_is_tried_again_once_replaying_was_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
