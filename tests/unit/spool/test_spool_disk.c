/* A disk that is full, fails, or does not keep what was written. */
#include "tests/unit/bad_disk.h"
#include "tests/unit/spool/spool_world.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

/* In place of libc's. */
int fdatasync(int fd)
{
	return bad_disk_sync(fd);
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
	/* Those that there is room for are whole. */
	assert_int_equal(appended, (500 - SEGMENT_HEADER_SIZE) / 47 - 2);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	/* The half one is not read, and others are written over it. */
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
	const struct CMUnitTest tests[] = {
		SPOOL_TEST(a_full_disk_leaves_no_half_record_behind),
		SPOOL_TEST(a_sync_makes_records_and_the_position_durable),
		SPOOL_TEST(a_folder_that_goes_is_an_error_until_it_is_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
