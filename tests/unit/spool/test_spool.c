#include "tests/unit/bad_disk.h"
#include "tests/unit/unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "common/spool/segment.h"
#include "common/spool/spool.h"

/* In place of libc's. */
int fdatasync(int fd)
{
	return bad_disk_sync(fd);
}

/* A folder of its own for each test, and the spool in it. */
struct world {
	char dir[64];
	struct spool_options options;
	struct spool *spool;
};

static struct spool *reopen(struct world *w)
{
	struct error err = {0};

	spool_free(w->spool);
	w->spool = spool_open(&w->options, &err);
	if (!w->spool)
		fail_msg("%s", err.text);
	return w->spool;
}

static int make_world(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	snprintf(w->dir, sizeof(w->dir), "/tmp/shortloop-spool-XXXXXX");
	assert_non_null(mkdtemp(w->dir));
	w->options = (struct spool_options){w->dir, 1 << 20, 0};
	reopen(w);
	*state = w;
	return 0;
}

static int drop_world(void **state)
{
	struct world *w = *state;

	spool_free(w->spool);
	unit_remove_dir(w->dir);
	free(w);
	return 0;
}

static const char *text_of(uint64_t n)
{
	static char text[32];

	snprintf(text, sizeof(text), "event %" PRIu64, n);
	return text;
}

/* Events `first` and on, each with its number as its time. */
static size_t try_append(struct world *w, uint64_t first, size_t count,
			 struct error *err)
{
	size_t appended = 0;

	for (size_t i = 0; i < count; i++) {
		const char *text = text_of(first + i);
		struct spool_record record = {0, (int64_t)(first + i), false,
					      text, strlen(text)};
		size_t one;

		if (spool_append(w->spool, &record, 1, &one, err) < 0)
			break;
		appended += one;
	}
	return appended;
}

static void append(struct world *w, uint64_t first, size_t count)
{
	struct error err = {0};

	if (try_append(w, first, count, &err) != count)
		fail_msg("%s", err.text);
}

static struct spool_record next_record(struct world *w, uint64_t lost)
{
	struct spool_record record = {0};
	struct error err = {0};
	uint64_t found_lost;
	int got = spool_next(w->spool, &record, &found_lost, &err);

	if (got != 1)
		fail_msg("no record: %s", err.text);
	assert_int_equal(found_lost, lost);
	return record;
}

/* The next ones are these events, in order. */
static void read_events(struct world *w, uint64_t first, size_t count,
			bool maybe_sent)
{
	for (size_t i = 0; i < count; i++) {
		const char *text = text_of(first + i);
		struct spool_record r = next_record(w, 0);

		assert_int_equal(r.len, strlen(text));
		assert_memory_equal(r.data, text, r.len);
		assert_int_equal(r.time_ms, first + i);
		assert_int_equal(r.maybe_sent, maybe_sent);
	}
}

static void is_read_to_the_end(struct world *w, uint64_t lost)
{
	struct spool_record record;
	struct error err;
	uint64_t found_lost;

	assert_int_equal(spool_next(w->spool, &record, &found_lost, &err), 0);
	assert_int_equal(found_lost, lost);
}

static void acknowledge_all(struct world *w)
{
	spool_acknowledge(w->spool, spool_next_number(w->spool));
}

static struct spool_usage usage(struct world *w)
{
	struct spool_usage u;

	spool_usage(w->spool, &u);
	return u;
}

static size_t segment_count(struct world *w, uint64_t *ret_first)
{
	DIR *dir = opendir(w->dir);
	size_t count = 0;
	uint64_t first;

	assert_non_null(dir);
	for (struct dirent *e; (e = readdir(dir));) {
		if (!segment_name_parse(e->d_name, &first))
			continue;
		if (count++ == 0 || first < *ret_first)
			*ret_first = first;
	}
	closedir(dir);
	return count;
}

static void segment_path(struct world *w, uint64_t first, char path[128])
{
	char name[SEGMENT_NAME_MAX];

	snprintf(path, 128, "%s/%s", w->dir, segment_name(first, name));
}

/* --- order and acknowledging ---------------------------------------------- */

static void records_come_back_in_order_over_many_segments(void **state)
{
	struct world *w = *state;
	uint64_t first;

	w->options.segment_bytes = 1000;
	reopen(w);
	append(w, 0, 300);
	assert_true(segment_count(w, &first) > 10);
	read_events(w, 0, 300, false);
	is_read_to_the_end(w, 0);
}

static void what_is_appended_while_it_is_read_comes_behind(void **state)
{
	struct world *w = *state;

	w->options.segment_bytes = 500;
	reopen(w);
	for (uint64_t i = 0; i < 100; i += 4) {
		append(w, i, 4);
		read_events(w, i, 4, false);
		is_read_to_the_end(w, 0);
	}
}

static void segments_go_when_their_records_are_done_with(void **state)
{
	struct world *w = *state;
	uint64_t first;
	size_t count;

	w->options.segment_bytes = 1000;
	reopen(w);
	append(w, 0, 100);
	read_events(w, 0, 50, false);
	count = segment_count(w, &first);
	acknowledge_all(w);
	assert_true(segment_count(w, &first) < count);
	assert_true(first <= spool_next_number(w->spool));
	assert_int_equal(usage(w).records, 50);
	read_events(w, 50, 50, false);
	acknowledge_all(w);
	assert_int_equal(segment_count(w, &first), 0);
	assert_int_equal(usage(w).records, 0);
	assert_int_equal(usage(w).bytes, 0);
}

static void an_empty_spool_goes_on_with_higher_numbers(void **state)
{
	struct world *w = *state;
	uint64_t number;

	append(w, 0, 3);
	read_events(w, 0, 3, false);
	acknowledge_all(w);
	number = spool_next_number(w->spool);
	reopen(w);
	is_read_to_the_end(w, 0);
	append(w, 3, 1);
	assert_int_equal(next_record(w, 0).number, number);
}

static void usage_tells_records_bytes_and_the_next_ones_time(void **state)
{
	struct world *w = *state;

	assert_int_equal(usage(w).next_ms, 0);
	append(w, 17, 2);
	assert_int_equal(usage(w).records, 2);
	assert_int_equal(usage(w).bytes,
			 SEGMENT_HEADER_SIZE + 2 * (SPOOL_HEADER_SIZE + 8));
	assert_int_equal(usage(w).next_ms, 17);
	read_events(w, 17, 1, false);
	assert_int_equal(usage(w).next_ms, 18);
}

/* --- restarts --------------------------------------------------------------
 */

static void records_of_a_former_process_are_read_unmarked(void **state)
{
	struct world *w = *state;

	append(w, 0, 10);
	reopen(w);
	append(w, 10, 10);
	read_events(w, 0, 20, false);
	is_read_to_the_end(w, 0);
}

/* Those that were handed over before may have arrived; those behind did not. */
static void what_was_not_acknowledged_comes_again_and_says_so(void **state)
{
	struct world *w = *state;

	append(w, 0, 20);
	read_events(w, 0, 10, false);
	spool_acknowledge(w->spool, spool_next_number(w->spool) - 4);
	reopen(w);
	assert_int_equal(usage(w).records, 14);
	read_events(w, 6, 4, true);
	read_events(w, 10, 10, false);
	/* And once more, when nothing of it was read since. */
	reopen(w);
	read_events(w, 6, 14, true);
}

/* Another process has the spool, with 5,000 records appended, does that to it,
 * and is killed. */
static void use_and_die(struct world *w, void (*use)(struct world *w))
{
	struct error err;
	int status;
	pid_t pid;

	spool_free(w->spool);
	w->spool = NULL;
	pid = fork();
	if (pid == 0) {
		w->spool = spool_open(&w->options, &err);
		if (!w->spool || try_append(w, 0, 5000, &err) != 5000)
			_exit(1);
		use(w);
		kill(getpid(), SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	reopen(w);
}

static void take_next(struct world *w)
{
	struct spool_record record;
	struct error err;
	uint64_t lost;

	if (spool_next(w->spool, &record, &lost, &err) != 1)
		_exit(2);
}

/* A process that is killed notes nothing at its end: what it may have handed
 * over is known from before. */
static void a_killed_process_leaves_what_it_appended(void **state)
{
	struct world *w = *state;

	use_and_die(w, take_next);
	read_events(w, 0, 1, true);
	while (spool_next_number(w->spool) <= 4096)
		assert_true(next_record(w, 0).maybe_sent);
	for (uint64_t i = 4097; i < 5000; i++)
		next_record(w, 0);
	assert_false(next_record(w, 0).maybe_sent);
	is_read_to_the_end(w, 0);
}

/* Acknowledges of 4,000 records, in such steps. */
static void acknowledge(struct world *w)
{
	for (uint64_t n = 1; n <= 4000; n++) {
		take_next(w);
		if (n % 100 == 0)
			spool_acknowledge(w->spool, n - 50);
	}
}

static void
a_killed_process_repeats_only_what_was_not_acknowledged(void **state)
{
	struct world *w = *state;

	use_and_die(w, acknowledge);
	assert_int_equal(usage(w).records, 5000 - 3949);
	read_events(w, 3949, 51, true);
	while (next_record(w, 0).number < 5000)
		;
	is_read_to_the_end(w, 0);
}

/* Of what is acknowledged nothing else is known to be. */
static void a_damaged_position_repeats_and_loses_none(void **state)
{
	struct world *w = *state;
	char path[128];
	int fd;

	append(w, 0, 20);
	read_events(w, 0, 10, false);
	acknowledge_all(w);
	spool_free(w->spool);
	w->spool = NULL;
	snprintf(path, sizeof(path), "%s/position", w->dir);
	fd = open(path, O_WRONLY);
	assert_true(fd >= 0);
	for (off_t at = 0; at < 1024; at += 512)
		assert_int_equal(pwrite(fd, "x", 1, at + 20), 1);
	close(fd);
	reopen(w);
	read_events(w, 0, 20, true);
	is_read_to_the_end(w, 0);
}

static void a_lost_position_marks_all(void **state)
{
	struct world *w = *state;
	char path[128];

	append(w, 0, 5);
	spool_free(w->spool);
	w->spool = NULL;
	snprintf(path, sizeof(path), "%s/position", w->dir);
	assert_int_equal(unlink(path), 0);
	reopen(w);
	append(w, 5, 5);
	read_events(w, 0, 5, true);
	read_events(w, 5, 5, false);
}

/* --- damage ----------------------------------------------------------------
 */

static void remove_files(struct world *w)
{
	char command[128];

	spool_free(w->spool);
	w->spool = NULL;
	snprintf(command, sizeof(command), "rm -f %s/*", w->dir);
	assert_int_equal(system(command), 0);
}

/* A spool that has but these bytes, in a segment that begins with record 1. */
static void reopen_with(struct world *w, const char *bytes, size_t len)
{
	char path[128];
	int fd;

	remove_files(w);
	segment_path(w, 1, path);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
	close(fd);
	reopen(w);
}

static size_t read_segment(struct world *w, uint64_t first, char *to,
			   size_t room)
{
	char path[128];
	ssize_t got;
	int fd;

	segment_path(w, first, path);
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	got = read(fd, to, room);
	assert_true(got > 0);
	close(fd);
	return (size_t)got;
}

static void a_torn_tail_is_tolerated_at_every_byte(void **state)
{
	const size_t record = SPOOL_HEADER_SIZE + 7;
	struct world *w = *state;
	char bytes[1000];
	size_t size;

	append(w, 0, 3);
	size = read_segment(w, 1, bytes, sizeof(bytes));
	assert_int_equal(size, SEGMENT_HEADER_SIZE + 3 * record);
	for (size_t len = 0; len <= size; len++) {
		size_t whole = len < SEGMENT_HEADER_SIZE
				       ? 0
				       : (len - SEGMENT_HEADER_SIZE) / record;

		reopen_with(w, bytes, len);
		assert_int_equal(usage(w).records, whole);
		read_events(w, 0, whole, true);
		is_read_to_the_end(w, 0);
		/* And what comes now is behind them. */
		append(w, 100, 1);
		read_events(w, 100, 1, false);
		is_read_to_the_end(w, 0);
	}
}

/* In whichever of three: the others are read, in order, and it is counted where
 * a record behind it shows that it is missing. */
static void each_damaged_byte_costs_at_most_one_record(void **state)
{
	struct world *w = *state;
	char bytes[1000];
	size_t size;

	append(w, 0, 3);
	size = read_segment(w, 1, bytes, sizeof(bytes));
	for (size_t at = SEGMENT_HEADER_SIZE; at < size; at++) {
		uint64_t lost = 0, all = 0, count = 0;
		struct spool_record r;
		struct error err;

		bytes[at] ^= 0x10;
		reopen_with(w, bytes, size);
		while (spool_next(w->spool, &r, &lost, &err) == 1) {
			count++;
			all += lost;
			assert_int_equal(r.time_ms, r.number - 1);
		}
		assert_int_equal(count, 2);
		assert_int_equal(all,
				 at < size - (SPOOL_HEADER_SIZE + 7) ? 1 : 0);
		bytes[at] ^= 0x10;
	}
}

static void a_damaged_header_costs_no_record(void **state)
{
	struct world *w = *state;
	char bytes[1000];
	size_t size;

	append(w, 0, 3);
	size = read_segment(w, 1, bytes, sizeof(bytes));
	memset(bytes, 0x55, 8);
	reopen_with(w, bytes, size);
	read_events(w, 0, 3, true);
}

/* Puts another version into a segment's header, and says who refuses that. */
static void is_refused_of_version(struct world *w, uint64_t first,
				  const char *says)
{
	struct error err = {0};
	char path[128];
	int fd;

	spool_free(w->spool);
	w->spool = NULL;
	segment_path(w, first, path);
	fd = open(path, O_WRONLY);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, "\2", 1, 8), 1);
	close(fd);
	assert_null(spool_open(&w->options, &err));
	assert_int_equal(err.code, ERROR_CONFIG);
	assert_non_null(strstr(err.text, w->dir));
	if (!strstr(err.text, says))
		fail_msg("'%s' does not say '%s'", err.text, says);
}

static void a_segment_of_another_version_is_refused(void **state)
{
	append(*state, 0, 3);
	is_refused_of_version(*state, 1,
			      "0000000000000001.segment is of version 2; this "
			      "program reads version 1");
}

/* Not when it is met, with others read before it. */
static void each_segment_of_another_version_is_refused(void **state)
{
	struct world *w = *state;
	uint64_t first;

	w->options.segment_bytes = 100;
	reopen(w);
	append(w, 0, 3);
	assert_int_equal(segment_count(w, &first), 2);
	is_refused_of_version(w, 1, "0000000000000001.segment is of version 2");
}

/* In the payload of the fourth. */
static void flip_bit(struct world *w)
{
	char path[128], byte;
	int fd;

	segment_path(w, 1, path);
	fd = open(path, O_RDWR);
	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &byte, 1, 32 + 3 * 47 + 44), 1);
	byte ^= 4;
	assert_int_equal(pwrite(fd, &byte, 1, 32 + 3 * 47 + 44), 1);
	close(fd);
}

static void a_flipped_bit_is_counted_as_one_lost(void **state)
{
	struct world *w = *state;

	append(w, 0, 10);
	flip_bit(w);
	read_events(w, 0, 3, false);
	assert_int_equal(next_record(w, 1).time_ms, 4);
	read_events(w, 5, 5, false);
	is_read_to_the_end(w, 0);
}

static void a_last_record_that_is_damaged_is_counted_lost(void **state)
{
	struct world *w = *state;

	append(w, 0, 4);
	flip_bit(w);
	read_events(w, 0, 3, false);
	is_read_to_the_end(w, 1);
	is_read_to_the_end(w, 0);
	append(w, 4, 2);
	read_events(w, 4, 2, false);
}

/* An operator's hand, or another file system's repair. */
static void a_segment_that_is_gone_is_counted_lost(void **state)
{
	struct world *w = *state;
	char path[128];
	uint64_t first;

	w->options.segment_bytes = 100;
	reopen(w);
	append(w, 0, 9);
	assert_true(segment_count(w, &first) > 2);
	segment_path(w, 1, path);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(next_record(w, 2).time_ms, 2);
}

/* --- bounds and faults -----------------------------------------------------
 */

static void it_takes_so_many_bytes_and_no_more(void **state)
{
	struct world *w = *state;
	struct error err = {0};
	size_t taken;

	w->options.max_bytes = 4096;
	w->options.segment_bytes = 1024;
	reopen(w);
	taken = try_append(w, 0, 1000, &err);
	assert_int_equal(err.code, ERROR_FULL);
	assert_true(taken > 50 && taken < 100);
	assert_true(usage(w).bytes <= 4096);
	read_events(w, 0, taken, false);
	is_read_to_the_end(w, 0);
	/* What is done with makes room. */
	acknowledge_all(w);
	append(w, taken, 10);
	read_events(w, taken, 10, false);
}

static void its_last_byte_is_used(void **state)
{
	struct world *w = *state;
	struct spool_record records[3] = {{.data = "x", .len = 1},
					  {.data = "x", .len = 1},
					  {.data = "x", .len = 1}};
	struct error err;
	size_t appended;

	w->options.max_bytes =
		SEGMENT_HEADER_SIZE + 2 * (SPOOL_HEADER_SIZE + 1);
	reopen(w);
	assert_int_equal(spool_append(w->spool, records, 3, &appended, &err),
			 -1);
	assert_int_equal(appended, 2);
	assert_int_equal(usage(w).bytes, w->options.max_bytes);
}

static void some_of_a_call_may_be_appended(void **state)
{
	struct world *w = *state;
	struct spool_record records[100];
	struct error err;
	size_t appended;

	w->options.max_bytes = 1024;
	reopen(w);
	for (size_t i = 0; i < 100; i++)
		records[i] =
			(struct spool_record){0, (int64_t)i, false, "x", 1};
	assert_int_equal(spool_append(w->spool, records, 100, &appended, &err),
			 -1);
	assert_int_equal(err.code, ERROR_FULL);
	assert_int_equal(appended, (1024 - SEGMENT_HEADER_SIZE) /
					   (SPOOL_HEADER_SIZE + 1));
	for (size_t i = 0; i < appended; i++)
		assert_int_equal(next_record(w, 0).time_ms, i);
	is_read_to_the_end(w, 0);
}

/* A file that may not grow: write takes some of the bytes, and then none. */
static void a_full_disk_leaves_no_half_record_behind(void **state)
{
	struct world *w = *state;
	struct spool_record records[20];
	struct rlimit before, few;
	struct error err;
	size_t appended;

	signal(SIGXFSZ, SIG_IGN);
	append(w, 0, 2);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	few = before;
	few.rlim_cur = 500;
	for (size_t i = 0; i < 20; i++)
		records[i] = (struct spool_record){0, (int64_t)i + 2, false,
						   "payload", 7};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &few), 0);
	assert_int_equal(spool_append(w->spool, records, 20, &appended, &err),
			 -1);
	assert_int_equal(err.code, ERROR_SYSTEM);
	assert_int_equal(err.sys, EFBIG);
	/* As many as there is room for are whole. */
	assert_int_equal(appended, (500 - SEGMENT_HEADER_SIZE) / 47 - 2);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	/* Nor is a half one read, over which others are written. */
	for (size_t i = 0; i < 2 + appended; i++)
		assert_int_equal(next_record(w, 0).time_ms, i);
	is_read_to_the_end(w, 0);
	append(w, 100, 2);
	read_events(w, 100, 2, false);
	is_read_to_the_end(w, 0);
	reopen(w);
	for (size_t i = 0; i < 2 + appended; i++)
		assert_int_equal(next_record(w, 0).time_ms, i);
	read_events(w, 100, 2, true);
}

static int sync_on_a_bad_disk(struct world *w)
{
	struct error err;
	int status;

	sync_fails = true;
	status = spool_sync(w->spool, &err);
	sync_fails = false;
	return status;
}

/* A position that could not be made durable is noted again by the next call. */
static void a_sync_makes_records_and_the_position_durable(void **state)
{
	struct world *w = *state;
	struct error err;

	assert_int_equal(sync_on_a_bad_disk(w), 0);
	append(w, 0, 3);
	assert_int_equal(sync_on_a_bad_disk(w), -1);
	assert_int_equal(spool_sync(w->spool, &err), 0);
	read_events(w, 0, 2, false);
	assert_int_equal(spool_sync(w->spool, &err), 0);
	assert_int_equal(sync_on_a_bad_disk(w), 0);
	acknowledge_all(w);
	assert_int_equal(sync_on_a_bad_disk(w), -1);
	assert_int_equal(sync_on_a_bad_disk(w), -1);
	assert_int_equal(spool_sync(w->spool, &err), 0);
	assert_int_equal(sync_on_a_bad_disk(w), 0);
}

static void another_process_is_refused(void **state)
{
	struct world *w = *state;
	struct error err = {0};
	char want[64];

	/* flock is by open file: the same process is as good as another. */
	assert_null(spool_open(&w->options, &err));
	assert_int_equal(err.code, ERROR_BUSY);
	snprintf(want, sizeof(want), "in use by process %d", (int)getpid());
	assert_non_null(strstr(err.text, want));
	assert_non_null(strstr(err.text, w->dir));
}

static void a_folder_that_cannot_be_made_is_named(void **state)
{
	const struct spool_options options = {"/proc/nowhere/spool", 1 << 20,
					      0};
	struct error err = {0};

	(void)state;
	assert_null(spool_open(&options, &err));
	assert_int_equal(err.code, ERROR_SYSTEM);
	assert_non_null(strstr(err.text, "spool /proc/nowhere/spool: cannot "
					 "make it"));
}

static void a_folder_that_goes_is_an_error_until_it_is_back(void **state)
{
	struct world *w = *state;
	struct error err = {0};

	unit_remove_dir(w->dir);
	assert_int_equal(try_append(w, 0, 1, &err), 0);
	assert_int_equal(err.sys, ENOENT);
	assert_int_equal(usage(w).records, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_world, drop_world)
	const struct CMUnitTest tests[] = {
		TEST(records_come_back_in_order_over_many_segments),
		TEST(what_is_appended_while_it_is_read_comes_behind),
		TEST(segments_go_when_their_records_are_done_with),
		TEST(an_empty_spool_goes_on_with_higher_numbers),
		TEST(usage_tells_records_bytes_and_the_next_ones_time),
		TEST(records_of_a_former_process_are_read_unmarked),
		TEST(what_was_not_acknowledged_comes_again_and_says_so),
		TEST(a_killed_process_leaves_what_it_appended),
		TEST(a_killed_process_repeats_only_what_was_not_acknowledged),
		TEST(a_lost_position_marks_all),
		TEST(a_damaged_position_repeats_and_loses_none),
		TEST(a_torn_tail_is_tolerated_at_every_byte),
		TEST(each_damaged_byte_costs_at_most_one_record),
		TEST(a_flipped_bit_is_counted_as_one_lost),
		TEST(a_last_record_that_is_damaged_is_counted_lost),
		TEST(its_last_byte_is_used),
		TEST(a_damaged_header_costs_no_record),
		TEST(a_segment_of_another_version_is_refused),
		TEST(each_segment_of_another_version_is_refused),
		TEST(a_segment_that_is_gone_is_counted_lost),
		TEST(it_takes_so_many_bytes_and_no_more),
		TEST(some_of_a_call_may_be_appended),
		TEST(a_full_disk_leaves_no_half_record_behind),
		TEST(a_sync_makes_records_and_the_position_durable),
		TEST(another_process_is_refused),
		TEST(a_folder_that_cannot_be_made_is_named),
		TEST(a_folder_that_goes_is_an_error_until_it_is_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
