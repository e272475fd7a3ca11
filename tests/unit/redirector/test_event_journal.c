#include "tests/unit/unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "redirector/events/journal_files.h"

#define SMALL (1 << 20) /* one ring: 16 chunks of 64 KiB */

struct world {
	char dir[64];
	struct event_journal *j;
	/* The last rest of a former process that was taken. */
	struct journal_rest rest;
	char *bytes; /* bytes of its events */
	struct error rejected;
	/* This many events of the next rest are taken, and the file stays; 0:
	 * all. */
	size_t take_only;
};

static struct event_journal *new_journal(struct world *w, size_t rings,
					 struct error *err)
{
	const struct event_journal_options options = {w->dir, rings, SMALL,
						      1000};

	return event_journal_new(&options, err);
}

static void open_journal(struct world *w, size_t rings)
{
	struct error err = {0};

	w->j = new_journal(w, rings, &err);
	if (!w->j)
		fail_msg("%s", err.text);
}

static void release_rest(struct world *w)
{
	journal_rest_release(&w->rest);
	free(w->bytes);
	w->bytes = NULL;
}

static int make_world(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	snprintf(w->dir, sizeof(w->dir), "/tmp/shortloop-journal-XXXXXX");
	assert_non_null(mkdtemp(w->dir));
	open_journal(w, 1);
	*state = w;
	return 0;
}

static int drop_world(void **state)
{
	struct world *w = *state;

	event_journal_free(w->j);
	release_rest(w);
	unit_remove_dir(w->dir);
	free(w);
	return 0;
}

/* Copies the rest, which lies in a file that is removed next.  With several
 * rests, the last one is kept. */
static int keep_rest(void *arg, const struct journal_rest *rest,
		     size_t *ret_taken, struct error *err)
{
	struct world *w = arg;
	size_t size = 0;
	char *at;

	for (size_t i = 0; i < rest->count; i++)
		size += rest->events[i].len;
	free(w->rest.events);
	free(w->bytes);
	w->rest.events = calloc(rest->count + 1, sizeof(*rest->events));
	at = w->bytes = malloc(size + 1);
	for (size_t i = 0; i < rest->count; i++) {
		const struct journal_event *e = &rest->events[i];

		memcpy(at, e->data, e->len);
		w->rest.events[i] =
			(struct journal_event){e->time_ms, at, e->len};
		at += e->len;
	}
	w->rest.count += rest->count;
	w->rest.damaged += rest->damaged;
	if (!w->take_only)
		return 0;
	*ret_taken = w->take_only;
	w->take_only = 0;
	return error_set(err, ERROR_FULL, "no more");
}

static void keep_reason(void *arg, const struct error *why)
{
	struct world *w = arg;

	w->rejected = *why;
}

/* Takes a rest as the process with the folder does; there is one journal at
 * most. */
static const struct journal_rest *take_left(struct world *w)
{
	const struct journal_taker taker = {keep_rest, keep_reason, w};
	struct error err = {0};

	release_rest(w);
	w->rejected.code = ERROR_NONE;
	if (journal_files_take(w->dir, &taker, &err) < 0)
		fail_msg("%s", err.text);
	return &w->rest;
}

/* Takes the rest as the next process does. */
static const struct journal_rest *open_again(struct world *w, size_t rings)
{
	event_journal_free(w->j);
	w->j = NULL;
	take_left(w);
	open_journal(w, rings);
	return &w->rest;
}

/* Returns how many journals there are, and the name of one of them. */
static size_t count_files(struct world *w, char ret_path[400])
{
	DIR *dir = opendir(w->dir);
	size_t count = 0;

	for (struct dirent *e; (e = readdir(dir));) {
		if (strncmp(e->d_name, JOURNAL_PREFIX,
			    strlen(JOURNAL_PREFIX)) != 0)
			continue;
		snprintf(ret_path, 400, "%s/%s", w->dir, e->d_name);
		count++;
	}
	closedir(dir);
	return count;
}

static struct journal_entry *put_event(struct world *w, int64_t time_ms,
				       const char *event)
{
	return event_journal_put(w->j, 0, time_ms, event, strlen(event));
}

static void assert_event(const struct journal_event *e, int64_t time_ms,
			 const char *event)
{
	assert_int_equal(e->time_ms, time_ms);
	assert_int_equal(e->len, strlen(event));
	assert_memory_equal(e->data, event, e->len);
}

static void what_is_not_done_is_there_for_the_next_one(void **state)
{
	struct world *w = *state;
	struct journal_entry *second;
	const struct journal_rest *rest;

	put_event(w, 30, "third");
	second = put_event(w, 20, "second");
	put_event(w, 10, "first");
	journal_entry_done(second);
	rest = open_again(w, 4);
	assert_int_equal(w->rejected.code, ERROR_NONE);
	assert_int_equal(rest->count, 2);
	assert_int_equal(rest->damaged, 0);
	assert_event(&rest->events[0], 10, "first");
	assert_event(&rest->events[1], 30, "third");
	/* The rest is taken only once. */
	assert_int_equal(open_again(w, 1)->count, 0);
}

static void one_with_nothing_undone_is_removed(void **state)
{
	struct world *w = *state;
	char path[400];

	journal_entry_done(put_event(w, 1, "event"));
	assert_int_equal(count_files(w, path), 1);
	event_journal_free(w->j);
	w->j = NULL;
	assert_int_equal(count_files(w, path), 0);
}

static void what_could_not_be_taken_is_there_for_the_next_look(void **state)
{
	struct world *w = *state;
	const struct journal_taker taker = {keep_rest, keep_reason, w};
	struct error err = {0};
	char path[400];

	put_event(w, 30, "third");
	put_event(w, 10, "first");
	put_event(w, 20, "second");
	event_journal_free(w->j);
	w->j = NULL;
	w->take_only = 2;
	assert_int_equal(journal_files_take(w->dir, &taker, &err), -1);
	assert_int_equal(err.code, ERROR_FULL);
	assert_int_equal(count_files(w, path), 1);
	assert_int_equal(take_left(w)->count, 1);
	assert_event(&w->rest.events[0], 30, "third");
	assert_int_equal(count_files(w, path), 0);
}

/* A redirector that hands over lives beside its successor, and either may be
 * killed. */
static void nobody_takes_that_of_one_that_lives(void **state)
{
	struct world *w = *state;
	struct event_journal *former = w->j;
	char path[400];

	put_event(w, 1, "former");
	open_journal(w, 1);
	put_event(w, 2, "own");
	assert_int_equal(take_left(w)->count, 0);
	assert_int_equal(count_files(w, path), 2);
	event_journal_free(former);
	assert_int_equal(take_left(w)->count, 1);
	assert_event(&w->rest.events[0], 1, "former");
	assert_int_equal(count_files(w, path), 1);
	assert_int_equal(open_again(w, 1)->count, 1);
	assert_event(&w->rest.events[0], 2, "own");
}

static void too_many_are_not_made(void **state)
{
	struct world *w = *state;
	struct event_journal *last;
	struct error err = {0};

	for (int i = 1; i < JOURNAL_FILES_MAX; i++) {
		put_event(w, i, "event");
		event_journal_free(w->j);
		open_journal(w, 1);
	}
	last = w->j;
	assert_null(new_journal(w, 1, &err));
	assert_int_equal(err.code, ERROR_BUSY);
	assert_true(err.retriable);
	assert_non_null(strstr(err.text, "there are 16 journals"));
	take_left(w);
	assert_int_equal(w->rest.count, JOURNAL_FILES_MAX - 1);
	open_journal(w, 1);
	event_journal_free(last);
}

static void each_ring_keeps_its_own(void **state)
{
	static const char *const events[] = {"first", "second", "third"};
	struct world *w = *state;
	const struct journal_rest *rest;

	open_again(w, 3);
	for (size_t i = 0; i < 3; i++)
		assert_non_null(event_journal_put(
			w->j, i, (int64_t)i, events[i], strlen(events[i])));
	rest = open_again(w, 2);
	assert_int_equal(rest->count, 3);
	for (size_t i = 0; i < 3; i++)
		assert_event(&rest->events[i], (int64_t)i, events[i]);
}

/* Ten times the journal's size, and 300 events under way: each time one of the
 * oldest thirty is done, but the very first stays to the end. */
static void room_is_used_again_in_whatever_order_it_is_done(void **state)
{
	enum {
		UNDER_WAY = 300,
		OLDEST = 30
	};
	struct world *w = *state;
	struct journal_entry *kept[UNDER_WAY] = {NULL};
	const struct journal_rest *rest;
	char event[1001] = "";
	unsigned random = 1;

	memset(event, 'x', 1000);
	put_event(w, 1, event);
	for (size_t i = 0; i < UNDER_WAY; i++)
		assert_non_null(kept[i] = put_event(w, 2, event));
	for (int64_t i = 0; i < 10000; i++) {
		size_t at =
			((random = random * 1103515245 + 12345) >> 16) % OLDEST;

		journal_entry_done(kept[at]);
		memmove(kept + at, kept + at + 1,
			(UNDER_WAY - 1 - at) * sizeof(*kept));
		kept[UNDER_WAY - 1] = put_event(w, 3 + i, event);
		if (!kept[UNDER_WAY - 1])
			fail_msg("no room at %d", (int)i);
	}
	rest = open_again(w, 1);
	assert_int_equal(rest->count, 1 + UNDER_WAY);
	assert_int_equal(rest->damaged, 0);
	assert_int_equal(rest->events[0].time_ms, 1);
}

static void a_full_one_takes_nothing_until_a_chunk_is_done(void **state)
{
	struct world *w = *state;
	struct journal_entry *entries[1200] = {NULL};
	char event[1001] = "";
	size_t count = 0, tries = 0;

	memset(event, 'x', 1000);
	while (count < 1200 && (entries[count] = put_event(w, 1, event)))
		count++;
	assert_true(count > 900 && count < 1024);
	/* The chunk is free only after its first event is done, too. */
	for (size_t i = 1; i < 70; i++)
		journal_entry_done(entries[i]);
	for (size_t i = 0; i < 200; i++)
		assert_null(put_event(w, 1, event));
	journal_entry_done(entries[0]);
	while (!put_event(w, 1, event))
		assert_true(++tries < 100);
}

static void what_is_too_long_is_not_taken(void **state)
{
	struct world *w = *state;
	char *event = calloc(1, SMALL);

	assert_non_null(event_journal_put(w->j, 0, 1, event, 60000));
	assert_null(event_journal_put(w->j, 0, 1, event, 64 << 10));
	assert_null(event_journal_put(w->j, 0, 1, event, SMALL));
	assert_null(event_journal_put(w->j, 0, 1, event, 0));
	free(event);
}

static void assert_size(struct world *w, size_t rings, int64_t bytes,
			size_t event_max, off_t size)
{
	const struct event_journal_options options = {w->dir, rings, bytes,
						      event_max};
	struct error err = {0};
	char path[400];
	struct stat st;

	event_journal_free(w->j);
	w->j = event_journal_new(&options, &err);
	if (!w->j)
		fail_msg("%s", err.text);
	assert_int_equal(count_files(w, path), 1);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 4096 + size);
}

/* A chunk takes four of the longest events, and each ring has at least two
 * chunks. */
static void a_ring_has_chunks_for_its_share_and_for_its_events(void **state)
{
	struct world *w = *state;

	assert_size(w, 1, SMALL, 1000, SMALL);
	assert_size(w, 4, SMALL, 1000, SMALL);
	assert_size(w, 16, SMALL, 1000, 2 * SMALL);
	/* An entry has 16384 bytes with its head; the next is longer. */
	assert_size(w, 1, SMALL, 16384 - 40, SMALL);
	assert_size(w, 1, 4 * SMALL, 120000, 4 * SMALL);
	assert_size(w, 1, SMALL / 2, 120000, SMALL);
	assert_size(w, 1, SMALL / 2, 10 * SMALL, 2 * SMALL);
	assert_size(w, 1, 3 * SMALL / 2, 16384 - 40, 3 * SMALL / 2);
}

/* An entry of an earlier filling does not count as a new one. */
static void each_filling_has_numbers_of_its_own(void **state)
{
	struct world *w = *state;
	struct journal_entry *e = put_event(w, 1, "event"), *again;
	const uint64_t number = e->number;
	char event[1001] = "";

	memset(event, 'x', 1000);
	journal_entry_done(e);
	for (int i = 0; i < 1200; i++) {
		again = put_event(w, 2, event);
		assert_non_null(again);
		if (again == e) {
			assert_int_not_equal(again->number, number);
			return;
		}
		journal_entry_done(again);
	}
	fail_msg("its place is not used again");
}

/* --- threads -------------------------------------------------------------- */

enum {
	HANDED = 256, /* a power of two */
	HANDED_ALL = 100000,
};

/* One thread puts entries, and the other marks them as done, as Kafka's thread
 * does. */
struct handing {
	struct journal_entry *entries[HANDED];
	_Atomic uint32_t put, done;
};

static void *mark_as_done(void *arg)
{
	struct handing *h = arg;
	uint32_t wrong = 0;

	for (uint32_t i = 0; i < HANDED_ALL; i++) {
		struct journal_entry *e;

		while (atomic_load_explicit(&h->put, memory_order_acquire) == i)
			sched_yield();
		e = h->entries[i % HANDED];
		wrong += e->time_ms != i;
		journal_entry_done(e);
		atomic_store_explicit(&h->done, i + 1, memory_order_release);
	}
	return (void *)(uintptr_t)wrong;
}

static void another_thread_says_what_is_done(void **state)
{
	struct world *w = *state;
	struct handing h = {0};
	char event[1001] = "";
	pthread_t thread;
	void *wrong;

	memset(event, 'x', 1000);
	assert_int_equal(pthread_create(&thread, NULL, mark_as_done, &h), 0);
	for (uint32_t i = 0; i < HANDED_ALL; i++) {
		struct journal_entry *e;

		while (i - atomic_load(&h.done) == HANDED)
			sched_yield();
		e = put_event(w, i, event);
		assert_non_null(e);
		h.entries[i % HANDED] = e;
		atomic_store_explicit(&h.put, i + 1, memory_order_release);
	}
	pthread_join(thread, &wrong);
	assert_null(wrong);
	assert_int_equal(open_again(w, 1)->count, 0);
}

/* --- kills ---------------------------------------------------------------- */

/* The child records for each event that it was put, and that it was done. */
struct said {
	_Atomic uint32_t put, done_to;
};

enum {
	KEEP = 300, /* this many are under way */
};

static size_t event_of(uint32_t number, char event[600])
{
	size_t len = 4 + number * 7 % 590;

	memset(event, (int)(number % 251), 600);
	memcpy(event, &number, sizeof(number));
	return len;
}

static void put_for_ever(struct world *w, struct said *said)
{
	struct journal_entry *entries[KEEP];
	char event[600];

	for (uint32_t i = 0;; i++) {
		size_t len = event_of(i, event);

		if (i >= KEEP) {
			atomic_store(&said->done_to, i - KEEP + 1);
			journal_entry_done(entries[i % KEEP]);
		}
		entries[i % KEEP] = event_journal_put(w->j, 0, i, event, len);
		if (!entries[i % KEEP])
			_exit(1);
		atomic_store(&said->put, i + 1);
	}
}

static void kill_at_random(pid_t child, unsigned *random)
{
	struct timespec wait = {0, 0};
	int status;

	*random = *random * 1103515245 + 12345;
	wait.tv_nsec = 200000 + (long)(*random >> 8) % 4000000;
	nanosleep(&wait, NULL);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
}

/* Each event that was put and not done must be there, complete; there may be
 * one more, which was being put or marked at the kill. */
static void check_rest(const struct journal_rest *rest, const struct said *said)
{
	uint32_t from = said->done_to, to = said->put;
	char event[600];

	assert_int_equal(rest->damaged, 0);
	assert_true(rest->count >= to - from);
	assert_true(rest->count <= to - from + 2);
	for (size_t i = 0; i < rest->count; i++) {
		const struct journal_event *e = &rest->events[i];
		uint32_t number = (uint32_t)e->time_ms;

		assert_true(number + 1 >= from && number <= to);
		assert_int_equal(e->len, event_of(number, event));
		assert_memory_equal(e->data, event, e->len);
	}
	for (uint32_t i = from; i < to; i++)
		assert_true(rest->events[i - (uint32_t)rest->events[0].time_ms]
				    .time_ms == i);
}

static void no_kill_costs_an_event_that_was_put(void **state)
{
	struct world *w = *state;
	struct said *said = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned random = 7;
	size_t killed_under_way = 0;

	for (int i = 0; i < 200; i++) {
		pid_t child;

		memset(said, 0, sizeof(*said));
		child = fork();
		assert_true(child >= 0);
		if (child == 0)
			put_for_ever(w, said);
		kill_at_random(child, &random);
		check_rest(open_again(w, 1), said);
		killed_under_way += said->put > 0;
	}
	assert_true(killed_under_way > 20);
	munmap(said, 4096);
}

/* --- damaged files -------------------------------------------------------- */

static void write_file(const char *path, const void *bytes, size_t size,
		       off_t at)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0600);

	assert_int_equal(pwrite(fd, bytes, size, at), (ssize_t)size);
	close(fd);
}

static void write_journal(struct world *w, const void *bytes, size_t size,
			  off_t at)
{
	char path[400];

	assert_int_equal(count_files(w, path), 1);
	write_file(path, bytes, size, at);
}

static bool was_set_aside(const struct world *w)
{
	char path[96];
	struct stat st;

	snprintf(path, sizeof(path), "%s/" JOURNAL_REJECTED, w->dir);
	return stat(path, &st) == 0 && st.st_size > 0;
}

static void another_version_is_set_aside(void **state)
{
	struct world *w = *state;
	const uint32_t version = JOURNAL_VERSION + 1;

	put_event(w, 1, "event");
	write_journal(w, &version, sizeof(version), 8);
	assert_int_equal(open_again(w, 1)->count, 0);
	assert_int_equal(w->rejected.code, ERROR_CONFIG);
	assert_non_null(strstr(w->rejected.text, "version 2 is not known"));
	assert_true(was_set_aside(w));
	assert_non_null(put_event(w, 1, "event"));
	assert_int_equal(open_again(w, 1)->count, 1);
	assert_int_equal(w->rejected.code, ERROR_NONE);
}

static void a_damaged_header_or_size_is_set_aside(void **state)
{
	struct world *w = *state;
	const uint32_t rings = 2;
	char path[400];

	put_event(w, 1, "event");
	write_journal(w, &rings, sizeof(rings), 12);
	open_again(w, 1);
	assert_int_equal(w->rejected.code, ERROR_DAMAGED);
	put_event(w, 1, "event");
	assert_int_equal(count_files(w, path), 1);
	assert_int_equal(truncate(path, 100000), 0);
	open_again(w, 1);
	assert_int_equal(w->rejected.code, ERROR_DAMAGED);
	assert_true(was_set_aside(w));
}

/* A power failure can leave such a page. */
static void a_page_of_zeros_costs_what_it_had(void **state)
{
	struct world *w = *state;
	static const char zeros[4096];
	char event[1001] = "";
	const struct journal_rest *rest;

	memset(event, 'x', 1000);
	for (int i = 0; i < 20; i++)
		put_event(w, i, event);
	write_journal(w, zeros, sizeof(zeros), 4096 + 8192);
	rest = open_again(w, 1);
	assert_int_equal(w->rejected.code, ERROR_NONE);
	assert_int_equal(rest->damaged, 1);
	assert_true(rest->count >= 14 && rest->count < 20);
	/* A file without a header counts as one that never began. */
	put_event(w, 1, event);
	write_journal(w, zeros, sizeof(zeros), 0);
	assert_int_equal(open_again(w, 1)->count, 0);
	assert_int_equal(w->rejected.code, ERROR_NONE);
}

/* The first write to a page must never find the disk full. */
static void all_of_its_room_is_taken_or_it_does_not_begin(void **state)
{
	struct world *w = *state;
	struct rlimit before, small;
	struct error err = {0};
	char path[400];
	struct stat st;

	assert_int_equal(count_files(w, path), 1);
	assert_int_equal(stat(path, &st), 0);
	assert_true(st.st_blocks * 512 >= SMALL);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = before;
	small.rlim_cur = SMALL / 2;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_null(new_journal(w, 1, &err));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(err.code, ERROR_SYSTEM);
	assert_non_null(strstr(err.text, "no room for it"));
	assert_int_equal(count_files(w, path), 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_world, drop_world)
	const struct CMUnitTest tests[] = {
		TEST(what_is_not_done_is_there_for_the_next_one),
		TEST(one_with_nothing_undone_is_removed),
		TEST(what_could_not_be_taken_is_there_for_the_next_look),
		TEST(nobody_takes_that_of_one_that_lives),
		TEST(too_many_are_not_made),
		TEST(each_ring_keeps_its_own),
		TEST(room_is_used_again_in_whatever_order_it_is_done),
		TEST(a_full_one_takes_nothing_until_a_chunk_is_done),
		TEST(what_is_too_long_is_not_taken),
		TEST(a_ring_has_chunks_for_its_share_and_for_its_events),
		TEST(each_filling_has_numbers_of_its_own),
		TEST(another_thread_says_what_is_done),
		TEST(no_kill_costs_an_event_that_was_put),
		TEST(all_of_its_room_is_taken_or_it_does_not_begin),
		TEST(another_version_is_set_aside),
		TEST(a_damaged_header_or_size_is_set_aside),
		TEST(a_page_of_zeros_costs_what_it_had),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
