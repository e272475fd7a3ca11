/* The room that a spool takes: files that exist or are open. */
#include "tests/unit/spool/spool_world.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/syscall.h>

/* Replaces libc's function. */
static bool removal_fails;

int unlinkat(int dir, const char *name, int flags)
{
	if (removal_fails) {
		errno = EIO;
		return -1;
	}
	return (int)syscall(SYS_unlinkat, dir, name, flags);
}

static void
a_segment_that_could_not_be_removed_goes_at_the_next_start(void **state)
{
	struct world *w = *state;
	uint64_t first;

	make_segments(w, 2);
	append_events(w, 4, 1);
	read_events(w, 0, 4, false);
	removal_fails = true;
	acknowledge_all(w);
	removal_fails = false;
	assert_int_equal(segment_count(w, &first), 3);
	reopen_spool(w);
	assert_int_equal(segment_count(w, &first), 1);
	assert_int_equal(read_usage(w).bytes,
			 SEGMENT_HEADER_SIZE + SPOOL_HEADER_SIZE + 7);
	read_events(w, 4, 1, false);
}

/* Returns how many files of the spool's folder with that in their names are
 * open. */
static size_t count_open(struct world *w, const char *name)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t count = 0;

	assert_non_null(dir);
	for (struct dirent *e; (e = readdir(dir));) {
		char to[256];
		ssize_t len =
			readlinkat(dirfd(dir), e->d_name, to, sizeof(to) - 1);

		to[len > 0 ? len : 0] = '\0';
		count += strncmp(to, w->dir, strlen(w->dir)) == 0 &&
			 strstr(to, name);
	}
	closedir(dir);
	return count;
}

/* An open file takes its room on the disk, whether it has a name or not. */
static void what_is_done_with_takes_no_room(void **state)
{
	struct world *w = *state;
	uint64_t first;

	make_segments(w, 4);
	for (uint64_t i = 0; i < 8; i++) {
		read_events(w, i, 1, false);
		acknowledge_all(w);
		assert_int_equal(count_open(w, " (deleted)"), 0);
	}
	assert_int_equal(segment_count(w, &first), 0);
}

/* A segment that would have no record takes no room. */
static void a_spool_without_room_begins_no_segment(void **state)
{
	const int64_t least = SEGMENT_HEADER_SIZE + SPOOL_HEADER_SIZE;
	struct world *w = *state;
	struct error err = {0};
	uint64_t first;

	append_events(w, 0, 1);
	for (int64_t room = 1; room <= least; room++) {
		w->options.max_bytes = least + 7 + room;
		reopen_spool(w);
		assert_int_equal(try_append(w, 1, 1, &err), 0);
		assert_int_equal(err.code, ERROR_FULL);
		assert_int_equal(segment_count(w, &first), 1);
		assert_int_equal(read_usage(w).bytes, least + 7);
	}
	w->options.max_bytes = least + 7 + least + 7;
	reopen_spool(w);
	append_events(w, 1, 1);
}

static void a_start_leaves_no_segment_open(void **state)
{
	struct world *w = *state;

	make_segments(w, 3);
	reopen_spool(w);
	assert_int_equal(count_open(w, ".segment"), 0);
	read_events(w, 0, 6, false);
	/* One file is read, and one is appended to. */
	append_events(w, 6, 1);
	assert_true(count_open(w, ".segment") <= 2);
	spool_free(w->spool);
	w->spool = NULL;
	assert_int_equal(count_open(w, ""), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SPOOL_TEST(
			a_segment_that_could_not_be_removed_goes_at_the_next_start),
		SPOOL_TEST(what_is_done_with_takes_no_room),
		SPOOL_TEST(a_spool_without_room_begins_no_segment),
		SPOOL_TEST(a_start_leaves_no_segment_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
