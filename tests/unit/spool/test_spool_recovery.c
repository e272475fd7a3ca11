/* Records of a former process are read, whatever the state of its files. */
#include "tests/unit/spool/spool_world.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

static void records_of_a_former_process_are_read_unmarked(void **state)
{
	struct world *w = *state;

	append_events(w, 0, 10);
	reopen_spool(w);
	append_events(w, 10, 10);
	read_events(w, 0, 20, false);
	is_read_to_the_end(w, 0);
}

/* Records that were handed over before may have arrived; later ones did not. */
static void what_was_not_acknowledged_comes_again_and_says_so(void **state)
{
	struct world *w = *state;

	append_events(w, 0, 20);
	read_events(w, 0, 10, false);
	spool_acknowledge(w->spool, spool_next_number(w->spool) - 4);
	reopen_spool(w);
	assert_int_equal(read_usage(w).records, 14);
	read_events(w, 6, 4, true);
	read_events(w, 10, 10, false);
	/* The same holds after another restart without a read. */
	reopen_spool(w);
	read_events(w, 6, 14, true);
}

/* Another process opens the spool, appends 5,000 records, calls `use`, and is
 * killed. */
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
	reopen_spool(w);
}

static void take_next(struct world *w)
{
	struct spool_record record;
	struct error err;
	uint64_t lost;

	if (spool_next(w->spool, &record, &lost, &err) != 1)
		_exit(2);
}

/* A killed process writes nothing at its end: what it may have handed over is
 * known from before. */
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

/* Acknowledges most of 4,000 records, step by step. */
static void acknowledge_most(struct world *w)
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

	use_and_die(w, acknowledge_most);
	assert_int_equal(read_usage(w).records, 5000 - 3949);
	read_events(w, 3949, 51, true);
	while (next_record(w, 0).number < 5000)
		;
	is_read_to_the_end(w, 0);
}

/* Only the position file has what is acknowledged. */
static void a_damaged_position_repeats_and_loses_none(void **state)
{
	struct world *w = *state;
	char path[128];
	int fd;

	append_events(w, 0, 20);
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
	reopen_spool(w);
	read_events(w, 0, 20, true);
	is_read_to_the_end(w, 0);
}

static void a_lost_position_marks_all(void **state)
{
	struct world *w = *state;
	char path[128];

	append_events(w, 0, 5);
	spool_free(w->spool);
	w->spool = NULL;
	snprintf(path, sizeof(path), "%s/position", w->dir);
	assert_int_equal(unlink(path), 0);
	reopen_spool(w);
	append_events(w, 5, 5);
	read_events(w, 0, 5, true);
	read_events(w, 5, 5, false);
}

static void remove_files(struct world *w)
{
	char command[128];

	spool_free(w->spool);
	w->spool = NULL;
	snprintf(command, sizeof(command), "rm -f %s/*", w->dir);
	assert_int_equal(system(command), 0);
}

/* Opens a spool with only these bytes, in a segment that begins with record 1.
 */
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
	reopen_spool(w);
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

	append_events(w, 0, 3);
	size = read_segment(w, 1, bytes, sizeof(bytes));
	assert_int_equal(size, SEGMENT_HEADER_SIZE + 3 * record);
	for (size_t len = 0; len <= size; len++) {
		size_t whole = len < SEGMENT_HEADER_SIZE
				       ? 0
				       : (len - SEGMENT_HEADER_SIZE) / record;

		reopen_with(w, bytes, len);
		assert_int_equal(read_usage(w).records, whole);
		read_events(w, 0, whole, true);
		is_read_to_the_end(w, 0);
		/* New records come after the others. */
		append_events(w, 100, 1);
		read_events(w, 100, 1, false);
		is_read_to_the_end(w, 0);
	}
}

/* The other two records are read, in order; the damaged one is counted if a
 * later record shows that it is missing. */
static void each_damaged_byte_costs_at_most_one_record(void **state)
{
	struct world *w = *state;
	char bytes[1000];
	size_t size;

	append_events(w, 0, 3);
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

	append_events(w, 0, 3);
	size = read_segment(w, 1, bytes, sizeof(bytes));
	memset(bytes, 0x55, 8);
	reopen_with(w, bytes, size);
	read_events(w, 0, 3, true);
}

/* Puts another version into a segment's header; the spool must refuse it with
 * this message. */
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
	append_events(*state, 0, 3);
	is_refused_of_version(*state, 1,
			      "0000000000000001.segment is of version 2; this "
			      "program reads version 1");
}

/* The start refuses it before other segments are read. */
static void each_segment_of_another_version_is_refused(void **state)
{
	struct world *w = *state;
	uint64_t first;

	w->options.segment_bytes = 100;
	reopen_spool(w);
	append_events(w, 0, 3);
	assert_int_equal(segment_count(w, &first), 2);
	is_refused_of_version(w, 1, "0000000000000001.segment is of version 2");
}

enum {
	RECORD_SIZE = SPOOL_HEADER_SIZE + 7,
};

/* Flips a bit in the payload of record `which` of the segment, counted from 0.
 */
static void flip_bit(struct world *w, uint64_t first, int which)
{
	const off_t at = SEGMENT_HEADER_SIZE + which * RECORD_SIZE + 44;
	char path[128], byte;
	int fd;

	segment_path(w, first, path);
	fd = open(path, O_RDWR);
	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &byte, 1, at), 1);
	byte ^= 4;
	assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	close(fd);
}

static void a_flipped_bit_is_counted_as_one_lost(void **state)
{
	struct world *w = *state;

	append_events(w, 0, 10);
	flip_bit(w, 1, 3);
	read_events(w, 0, 3, false);
	assert_int_equal(next_record(w, 1).time_ms, 4);
	read_events(w, 5, 5, false);
	is_read_to_the_end(w, 0);
}

static void a_last_record_that_is_damaged_is_counted_lost(void **state)
{
	struct world *w = *state;

	append_events(w, 0, 4);
	flip_bit(w, 1, 3);
	read_events(w, 0, 3, false);
	is_read_to_the_end(w, 1);
	is_read_to_the_end(w, 0);
	append_events(w, 4, 2);
	read_events(w, 4, 2, false);
}

/* An operator, or the repair of a file system, may remove a segment. */
static void a_segment_that_is_gone_is_counted_lost(void **state)
{
	struct world *w = *state;
	char path[128];
	uint64_t first;

	w->options.segment_bytes = 100;
	reopen_spool(w);
	append_events(w, 0, 9);
	assert_true(segment_count(w, &first) > 2);
	segment_path(w, 1, path);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(next_record(w, 2).time_ms, 2);
}

/* Puts bytes of a record that an earlier file had at the place of this segment:
 * a file system may return them after a power failure. */
static void put_old_bytes(struct world *w, uint64_t into, uint64_t from,
			  size_t which)
{
	const size_t at = SEGMENT_HEADER_SIZE + which * RECORD_SIZE;
	char bytes[1000], path[128];
	int fd;

	read_segment(w, from, bytes, sizeof(bytes));
	segment_path(w, into, path);
	fd = open(path, O_WRONLY | O_APPEND);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes + at, RECORD_SIZE), RECORD_SIZE);
	close(fd);
}

/* If the last record of a segment is damaged, the next record is searched for.
 */
static void a_segment_has_no_records_of_those_behind_it(void **state)
{
	struct world *w = *state;

	make_segments(w, 3);
	flip_bit(w, 1, 1);
	put_old_bytes(w, 1, 5, 1);
	read_events(w, 0, 1, false);
	assert_int_equal(next_record(w, 1).time_ms, 2);
	read_events(w, 3, 3, false);
	is_read_to_the_end(w, 0);
}

static void a_segment_has_no_records_of_those_before_it(void **state)
{
	struct world *w = *state;

	make_segments(w, 3);
	flip_bit(w, 3, 1);
	put_old_bytes(w, 3, 1, 1);
	read_events(w, 0, 3, false);
	assert_int_equal(next_record(w, 1).time_ms, 4);
	read_events(w, 5, 1, false);
	is_read_to_the_end(w, 0);
}

static void numbers_go_on_behind_the_highest(void **state)
{
	struct world *w = *state;

	make_segments(w, 3);
	put_old_bytes(w, 5, 3, 1);
	reopen_spool(w);
	assert_int_equal(read_usage(w).records, 6);
	append_events(w, 6, 1);
	read_events(w, 0, 7, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SPOOL_TEST(records_of_a_former_process_are_read_unmarked),
		SPOOL_TEST(what_was_not_acknowledged_comes_again_and_says_so),
		SPOOL_TEST(a_killed_process_leaves_what_it_appended),
		SPOOL_TEST(
			a_killed_process_repeats_only_what_was_not_acknowledged),
		SPOOL_TEST(a_damaged_position_repeats_and_loses_none),
		SPOOL_TEST(a_lost_position_marks_all),
		SPOOL_TEST(a_torn_tail_is_tolerated_at_every_byte),
		SPOOL_TEST(each_damaged_byte_costs_at_most_one_record),
		SPOOL_TEST(a_damaged_header_costs_no_record),
		SPOOL_TEST(a_segment_of_another_version_is_refused),
		SPOOL_TEST(each_segment_of_another_version_is_refused),
		SPOOL_TEST(a_flipped_bit_is_counted_as_one_lost),
		SPOOL_TEST(a_last_record_that_is_damaged_is_counted_lost),
		SPOOL_TEST(a_segment_that_is_gone_is_counted_lost),
		SPOOL_TEST(a_segment_has_no_records_of_those_behind_it),
		SPOOL_TEST(a_segment_has_no_records_of_those_before_it),
		SPOOL_TEST(numbers_go_on_behind_the_highest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
