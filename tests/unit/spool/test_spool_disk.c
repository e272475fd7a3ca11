/* A disk is full, fails, or does not keep what was written. */
#include "tests/unit/bad_disk.h"
#include "tests/unit/spool/spool_world.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* Replaces libc's functions: each fails while a test sets it. */
static bool write_fails, cut_fails, read_fails, lock_fails;

static int fail_with_errno(int why)
{
	errno = why;
	return -1;
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at)
{
	return write_fails ? fail_with_errno(EIO)
			   : syscall(SYS_pwrite64, fd, bytes, size, at);
}

int ftruncate(int fd, off_t size)
{
	return cut_fails ? fail_with_errno(EIO)
			 : (int)syscall(SYS_ftruncate, fd, size);
}

/* Reading records fails; headers of segments can still be read. */
ssize_t pread(int fd, void *to, size_t size, off_t at)
{
	return read_fails && at >= SEGMENT_HEADER_SIZE
		       ? fail_with_errno(EIO)
		       : syscall(SYS_pread64, fd, to, size, at);
}

int flock(int fd, int operation)
{
	return lock_fails ? fail_with_errno(ENOLCK)
			  : (int)syscall(SYS_flock, fd, operation);
}

enum {
	FILES_MAX = 64,
};

/* The durable size of each file. */
static struct kept_file {
	ino_t file;
	off_t size;
} kept[FILES_MAX];
static size_t syncs;

/* Returns the entry of the file, or a free one. */
static struct kept_file *kept_of(ino_t file)
{
	size_t i = 0;

	while (i < FILES_MAX - 1 && kept[i].file && kept[i].file != file)
		i++;
	return &kept[i];
}

int fdatasync(int fd)
{
	struct stat st;

	syncs++;
	if (bad_disk_sync(fd) < 0 || fstat(fd, &st) < 0)
		return -1;
	*kept_of(st.st_ino) = (struct kept_file){st.st_ino, st.st_size};
	return 0;
}

static bool is_kept(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return kept_of(st.st_ino)->size == st.st_size;
}

/* A file cannot grow: write takes some of the bytes, and then none. */
static void a_full_disk_leaves_no_half_record_behind(void **state)
{
	struct world *w = *state;
	struct spool_record records[20];
	struct rlimit before, few;
	struct error err;
	size_t appended;

	signal(SIGXFSZ, SIG_IGN);
	append_events(w, 0, 2);
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
	/* The records that fit are complete. */
	assert_int_equal(appended, (500 - SEGMENT_HEADER_SIZE) / 47 - 2);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	/* The half record is not read, and others are written over it. */
	for (size_t i = 0; i < 2 + appended; i++)
		assert_int_equal(next_record(w, 0).time_ms, i);
	is_read_to_the_end(w, 0);
	append_events(w, 100, 2);
	read_events(w, 100, 2, false);
	is_read_to_the_end(w, 0);
	reopen_spool(w);
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

/* A position that could not be made durable is written again by the next call.
 */
static void a_sync_makes_records_and_the_position_durable(void **state)
{
	struct world *w = *state;
	struct error err;

	assert_int_equal(sync_on_a_bad_disk(w), 0);
	append_events(w, 0, 3);
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

static void a_folder_that_goes_is_an_error_until_it_is_back(void **state)
{
	struct world *w = *state;
	struct error err = {0};

	unit_remove_dir(w->dir);
	assert_int_equal(try_append(w, 0, 1, &err), 0);
	assert_int_equal(err.sys, ENOENT);
	assert_int_equal(read_usage(w).records, 0);
}

/* --- durable data ----------------------------------------------------------
 */

static void a_sync_is_of_all_segments(void **state)
{
	struct world *w = *state;
	struct error err;
	char path[128];

	make_segments(w, 3);
	assert_int_equal(spool_sync(w->spool, &err), 0);
	for (uint64_t first = 1; first <= 5; first += 2) {
		segment_path(w, first, path);
		assert_true(is_kept(path));
	}
}

/* A power failure may lose its records: the caller must keep them at their
 * source. */
static void
a_segment_that_the_disk_did_not_keep_fails_the_next_sync(void **state)
{
	struct world *w = *state;
	struct error err = {0};

	make_segments(w, 1);
	sync_fails = true;
	append_events(w, 2, 1);
	sync_fails = false;
	assert_int_equal(spool_sync(w->spool, &err), -1);
	assert_int_equal(err.sys, EIO);
	assert_non_null(strstr(err.text, w->dir));
	assert_int_equal(spool_sync(w->spool, &err), 0);
	read_events(w, 0, 3, false);
}

/* --- half a record ---------------------------------------------------------
 */

/* Appends more records, and returns how many of them the disk took: the file
 * has room for this many records and half a one. */
static size_t append_on_full_disk(struct world *w, uint64_t first, rlim_t room)
{
	struct spool_record records[4];
	struct rlimit before, few;
	struct error err;
	size_t appended;

	for (size_t i = 0; i < 4; i++)
		records[i] = (struct spool_record){0, (int64_t)(first + i),
						   false, text_of(first), 7};
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	few = before;
	few.rlim_cur =
		SEGMENT_HEADER_SIZE + room * (SPOOL_HEADER_SIZE + 7) + 20;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &few), 0);
	assert_int_equal(spool_append(w->spool, records, 4, &appended, &err),
			 -1);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	return appended;
}

static void a_segment_goes_on_where_half_a_record_was_cut_off(void **state)
{
	struct world *w = *state;
	uint64_t first;

	append_events(w, 0, 2);
	assert_int_equal(append_on_full_disk(w, 2, 3), 1);
	append_events(w, 3, 2);
	assert_int_equal(segment_count(w, &first), 1);
	read_events(w, 0, 5, false);
	is_read_to_the_end(w, 0);
}

static void a_segment_whose_half_record_stays_is_not_written_to(void **state)
{
	struct world *w = *state;
	uint64_t first;
	struct error err;
	char path[128];

	append_events(w, 0, 2);
	cut_fails = true;
	assert_int_equal(append_on_full_disk(w, 2, 3), 1);
	cut_fails = false;
	append_events(w, 3, 2);
	assert_int_equal(segment_count(w, &first), 2);
	/* The complete records in it are as durable as the others. */
	assert_int_equal(spool_sync(w->spool, &err), 0);
	segment_path(w, 1, path);
	assert_true(is_kept(path));
	read_events(w, 0, 5, false);
	is_read_to_the_end(w, 0);
	reopen_spool(w);
	read_events(w, 0, 5, true);
	is_read_to_the_end(w, 0);
}

/* Damages the last record of the first segment. */
static void damage_last(struct world *w)
{
	char path[128];
	struct stat st;
	int fd;

	segment_path(w, 1, path);
	fd = open(path, O_WRONLY);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(pwrite(fd, "?", 1, st.st_size - 1), 1);
	close(fd);
}

/* The reader has already reached its end. */
static void a_segment_that_was_left_without_a_record_is_made_anew(void **state)
{
	struct world *w = *state;
	uint64_t first;

	make_segments(w, 1);
	damage_last(w);
	cut_fails = true;
	assert_int_equal(append_on_full_disk(w, 2, 0), 0);
	cut_fails = false;
	assert_int_equal(segment_count(w, &first), 2);
	read_events(w, 0, 1, false);
	is_read_to_the_end(w, 1);
	append_events(w, 2, 2);
	assert_int_equal(segment_count(w, &first), 2);
	assert_int_equal(read_usage(w).bytes,
			 2 * SEGMENT_HEADER_SIZE + 4 * (SPOOL_HEADER_SIZE + 7));
	read_events(w, 2, 2, false);
	is_read_to_the_end(w, 0);
}

/* --- handing over ----------------------------------------------------------
 */

static void what_cannot_be_noted_is_not_handed_over(void **state)
{
	struct world *w = *state;
	struct spool_record record;
	struct error err = {0};
	struct spool *killed;
	uint64_t lost;

	append_events(w, 0, 3);
	write_fails = true;
	assert_int_equal(spool_next(w->spool, &record, &lost, &err), -1);
	assert_non_null(strstr(err.text, w->dir));
	/* The position is written as soon as the disk allows.  A killed process
	 * shows this, since it writes nothing at its end. */
	write_fails = false;
	read_events(w, 0, 1, false);
	write_fails = true;
	spool_free(w->spool);
	write_fails = false;
	w->spool = NULL;
	killed = reopen_spool(w);
	assert_non_null(killed);
	read_events(w, 0, 3, true);
}

static void a_segment_that_cannot_be_read_may_be_moved_away(void **state)
{
	struct world *w = *state;
	struct spool_record record;
	struct error err = {0};
	char path[128];
	uint64_t lost;

	make_segments(w, 2);
	read_fails = true;
	assert_int_equal(spool_next(w->spool, &record, &lost, &err), -1);
	read_fails = false;
	assert_int_equal(err.sys, EIO);
	segment_path(w, 1, path);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(next_record(w, 2).time_ms, 2);
}

/* --- the folder ------------------------------------------------------------
 */

static void a_lock_that_fails_is_not_taken_for_another_process(void **state)
{
	struct world *w = *state;
	struct error err = {0};

	spool_free(w->spool);
	lock_fails = true;
	w->spool = spool_open(&w->options, &err);
	lock_fails = false;
	assert_null(w->spool);
	assert_int_equal(err.code, ERROR_SYSTEM);
	assert_int_equal(err.sys, ENOLCK);
}

static void a_lock_that_cannot_be_made_says_why(void **state)
{
	struct world *w = *state;
	struct error err = {0};
	char path[128];

	spool_free(w->spool);
	w->spool = NULL;
	snprintf(path, sizeof(path), "%s/lock", w->dir);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_null(spool_open(&w->options, &err));
	assert_int_equal(err.sys, EISDIR);
}

/* Each note costs a wait for the disk. */
static void handing_over_is_noted_once_for_many(void **state)
{
	struct world *w = *state;
	size_t before = syncs;

	/* Nothing is handed over yet. */
	is_read_to_the_end(w, 0);
	append_events(w, 0, 100);
	assert_int_equal(syncs - before, 0);
	read_events(w, 0, 100, false);
	assert_int_equal(syncs - before, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SPOOL_TEST(a_full_disk_leaves_no_half_record_behind),
		SPOOL_TEST(a_sync_makes_records_and_the_position_durable),
		SPOOL_TEST(a_folder_that_goes_is_an_error_until_it_is_back),
		SPOOL_TEST(a_sync_is_of_all_segments),
		SPOOL_TEST(
			a_segment_that_the_disk_did_not_keep_fails_the_next_sync),
		SPOOL_TEST(a_segment_goes_on_where_half_a_record_was_cut_off),
		SPOOL_TEST(a_segment_whose_half_record_stays_is_not_written_to),
		SPOOL_TEST(
			a_segment_that_was_left_without_a_record_is_made_anew),
		SPOOL_TEST(what_cannot_be_noted_is_not_handed_over),
		SPOOL_TEST(a_segment_that_cannot_be_read_may_be_moved_away),
		SPOOL_TEST(a_lock_that_fails_is_not_taken_for_another_process),
		SPOOL_TEST(a_lock_that_cannot_be_made_says_why),
		SPOOL_TEST(handing_over_is_noted_once_for_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
