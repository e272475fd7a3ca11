/* The spool takes the events in journals of former processes, or the events
 * stay there. */
#include "tests/unit/bad_disk.h"
#include "tests/unit/redirector/event_spool_world.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <time.h>

#include "common/spool/spool.h"

/* Replaces libc's functions: clocks are ahead, and a disk fails. */
static atomic_int ahead_s;

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	int status = (int)syscall(SYS_clock_gettime, clock, ret);

	ret->tv_sec += ahead_s;
	return status;
}

int fdatasync(int fd)
{
	return bad_disk_sync(fd);
}

enum {
	LEFT = 600, /* each has 1000 bytes: this fits a spool of 1 MiB, but not
		       beside ROOM_TAKEN events of 64 KiB */
	ROOM_TAKEN = 10,
};

/* Each of its events is different. */
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

/* Leaves room for some of the LEFT events. */
static void fill_most(struct world *w)
{
	assert_int_equal(offer_events(w, ROOM_TAKEN, 64 << 10), ROOM_TAKEN);
	start_spool(w);
	event_spool_end(w->spool);
	assert_int_equal(count_in_hour(w, HOUR_SPOOLED), ROOM_TAKEN);
}

/* Reads all events of the files and removes them, as a replay does; returns how
 * many are of a journal.  No event may come twice, and each must be marked. */
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

static void what_was_left_is_recovered_at_the_start(void **state)
{
	struct world *w = *state;

	leave_journal(w, 7);
	event_spool_recover(w->spool);
	assert_int_equal(count_in_hour(w, HOUR_SPOOLED), 7);
	event_spool_recover(w->spool);
	assert_int_equal(count_in_hour(w, HOUR_SPOOLED), 7);
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
	/* Further starts take no more events. */
	for (int i = 0; i < 3; i++)
		start_again(w);
	assert_int_equal(metric_of(w, COUNTER_RECOVERED), some);
	assert_int_equal(count_in_hour(w, HOUR_UNDELIVERED), 0);
	assert_int_equal(count_in_hour(w, HOUR_SPOOLED), ROOM_TAKEN + some);
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

	fill_most(w);
	leave_journal(w, LEFT);
	start_again(w);
	assert_true(is_said(w, "journal-"));
	assert_true(is_said(w, "the spool is full"));
	assert_int_equal(log_file_count(&w->log, "journals of others kept"), 1);
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
	/* An event of the queue is lost, and then the disk is not used for a
	 * while. */
	offer_events(w, 1, 100);
	start_spool(w);
	event_spool_end(w->spool);
	event_spool_recover(w->spool);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(count_in_hour(w, HOUR_UNDELIVERED), 1);
	assert_int_equal(count_in_hour(w, HOUR_SPOOLED), 0);
	event_spool_recover(w->spool);
	assert_int_equal(count_in_hour(w, HOUR_UNDELIVERED), 1);
	assert_int_equal(count_in_hour(w, HOUR_SPOOLED), 7);
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
	/* A power failure may lose the events that were written then. */
	memset(seen, 0, sizeof(seen));
	event_spool_recover(w->spool);
	assert_int_equal(take_away(w, seen), 7);
	event_spool_recover(w->spool);
	memset(seen, 0, sizeof(seen));
	assert_int_equal(take_away(w, seen), 0);
}

/* The events are spooled in several steps. */
static void that_it_spools_is_said_once(void **state)
{
	struct world *w = *state;

	leave_journal(w, LEFT);
	event_spool_recover(w->spool);
	assert_int_equal(metric_of(w, COUNTER_RECOVERED), LEFT);
	assert_int_equal(log_file_count(&w->log, "spooling click events"), 1);
	assert_int_equal(log_file_count(&w->log, " events=600 "), 1);
}

/* Returns the name of the only journal. */
static void only_journal(struct world *w, char path[400])
{
	DIR *dir = opendir(w->dir);
	size_t count = 0;

	assert_non_null(dir);
	for (struct dirent *e; (e = readdir(dir));) {
		if (strncmp(e->d_name, JOURNAL_PREFIX,
			    strlen(JOURNAL_PREFIX)) != 0)
			continue;
		snprintf(path, 400, "%s/%s", w->dir, e->d_name);
		count++;
	}
	closedir(dir);
	assert_int_equal(count, 1);
}

/* The header of a chunk is impossible: at least one event is lost. */
static void what_is_damaged_in_a_journal_is_counted(void **state)
{
	enum {
		FIRST_CHUNK = 4096,
		ITS_END = FIRST_CHUNK + 8,
	};
	struct world *w = *state;
	struct event_journal *j = make_journal(w);
	const uint32_t end = UINT32_MAX;
	char path[400];
	int fd;

	assert_non_null(event_journal_put(j, 0, TIME, "event", 5));
	only_journal(w, path);
	event_journal_free(j);
	fd = open(path, O_WRONLY);
	assert_int_equal(pwrite(fd, &end, sizeof(end), ITS_END), sizeof(end));
	close(fd);
	event_spool_recover(w->spool);
	assert_int_equal(metric_of(w, COUNTER_DROPPED_JOURNAL), 1);
	assert_int_equal(metric_of(w, COUNTER_RECOVERED), 0);
	assert_int_equal(log_file_count(&w->log, "damaged=1"), 1);
	/* The loss is counted once. */
	event_spool_recover(w->spool);
	assert_int_equal(metric_of(w, COUNTER_DROPPED_JOURNAL), 1);
}

static void a_journal_that_is_none_is_set_aside_and_said(void **state)
{
	struct world *w = *state;
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/" JOURNAL_PREFIX "0", w->dir);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs("something else", file);
	fclose(file);
	event_spool_recover(w->spool);
	assert_int_equal(metric_value(w->metrics.files_rejected), 1);
	assert_int_equal(log_file_count(&w->log, "rejected, and set aside"), 1);
	event_spool_recover(w->spool);
	assert_int_equal(metric_value(w->metrics.files_rejected), 1);
}

/* Waits for two rounds of the thread, so that one whole round has ended. */
static void go_round(struct world *w)
{
	for (int i = 0; i < 2; i++) {
		uint64_t spooled = metric_of(w, COUNTER_SPOOLED);

		assert_int_equal(offer_events(w, 1, 100), 1);
		for (int k = 0;
		     k < 60000 && metric_of(w, COUNTER_SPOOLED) == spooled; k++)
			usleep(1000);
		assert_true(metric_of(w, COUNTER_SPOOLED) > spooled);
	}
}

/* Successors may start and be killed while one process has the folder. */
static void what_is_left_later_is_looked_for_once_a_minute(void **state)
{
	struct world *w = *state;
	int64_t begin = clock_monotonic_ms();

	start_spool(w);
	go_round(w);
	leave_journal(w, 7);
	go_round(w);
	if (clock_monotonic_ms() - begin < 50000)
		assert_int_equal(metric_of(w, COUNTER_RECOVERED), 0);
	ahead_s = 61;
	offer_events(w, 1, 100);
	for (int i = 0; i < 60000 && metric_of(w, COUNTER_RECOVERED) == 0; i++)
		usleep(1000);
	assert_int_equal(metric_of(w, COUNTER_RECOVERED), 7);
	event_spool_end(w->spool);
	ahead_s = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		EVENT_SPOOL_TEST(what_was_left_is_recovered_at_the_start),
		EVENT_SPOOL_TEST(
			what_a_full_spool_cannot_take_stays_in_its_journal),
		EVENT_SPOOL_TEST(that_a_journal_waits_for_room_is_told),
		EVENT_SPOOL_TEST(
			what_a_failing_disk_cannot_take_stays_in_its_journal),
		EVENT_SPOOL_TEST(
			a_journal_stays_until_the_spool_is_on_the_disk),
		EVENT_SPOOL_TEST(that_it_spools_is_said_once),
		EVENT_SPOOL_TEST(what_is_damaged_in_a_journal_is_counted),
		EVENT_SPOOL_TEST(a_journal_that_is_none_is_set_aside_and_said),
		EVENT_SPOOL_TEST(
			what_is_left_later_is_looked_for_once_a_minute),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
