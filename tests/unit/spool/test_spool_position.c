#include "tests/unit/unit.h"

#include <fcntl.h>
#include <string.h>

#include "common/spool/position.h"

/* A folder with a file in which two positions were written. */
struct world {
	char dir[64];
	int dir_fd;
	struct position_file file;
};

static const struct spool_position older = {3, 10}, newer = {7, 20};

static void reopen_position_file(struct world *w, struct spool_position *ret,
				 bool *ret_found)
{
	struct error err;

	position_file_close(&w->file);
	assert_int_equal(
		position_file_open(&w->file, w->dir_fd, ret, ret_found, &err),
		0);
}

static int make_world(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct spool_position none;
	struct error err;
	bool found;

	snprintf(w->dir, sizeof(w->dir), "/tmp/shortloop-spool-XXXXXX");
	assert_non_null(mkdtemp(w->dir));
	w->dir_fd = open(w->dir, O_RDONLY | O_DIRECTORY);
	w->file.fd = -1;
	reopen_position_file(w, &none, &found);
	assert_false(found);
	assert_int_equal(position_file_write(&w->file, &older, false, &err), 0);
	assert_int_equal(position_file_write(&w->file, &newer, true, &err), 0);
	*state = w;
	return 0;
}

static int drop_world(void **state)
{
	struct world *w = *state;

	position_file_close(&w->file);
	assert_int_equal(unlinkat(w->dir_fd, "position", 0), 0);
	close(w->dir_fd);
	assert_int_equal(rmdir(w->dir), 0);
	free(w);
	return 0;
}

/* Flips a bit of each byte in turn, and reads the file.  The number of records
 * that were handed over is unknown without the newer position, or if it is
 * unclear which one is newer. */
static void damage_each_byte(struct world *w, off_t entry,
			     uint64_t acknowledged)
{
	for (off_t at = entry; at < entry + 32; at++) {
		struct spool_position position;
		char byte, flipped;
		bool found;

		assert_int_equal(pread(w->file.fd, &byte, 1, at), 1);
		flipped = byte ^ 1;
		assert_int_equal(pwrite(w->file.fd, &flipped, 1, at), 1);
		reopen_position_file(w, &position, &found);
		assert_true(found);
		assert_int_equal(position.acknowledged, acknowledged);
		assert_int_equal(position.handed_over, UINT64_MAX);
		assert_int_equal(pwrite(w->file.fd, &byte, 1, at), 1);
	}
}

static void the_newer_of_two_counts(void **state)
{
	struct world *w = *state;
	struct spool_position position;
	bool found;

	reopen_position_file(w, &position, &found);
	assert_true(found);
	assert_int_equal(position.acknowledged, newer.acknowledged);
	assert_int_equal(position.handed_over, newer.handed_over);
}

static void with_one_damaged_the_other_counts_and_all_may_be_sent(void **state)
{
	struct world *w = *state;

	/* The newer position was written after the older one. */
	damage_each_byte(w, 0, newer.acknowledged);
	damage_each_byte(w, 512, older.acknowledged);
}

static void the_first_is_in_both(void **state)
{
	struct world *w = *state;
	struct spool_position position;
	struct error err;
	bool found;

	assert_int_equal(ftruncate(w->file.fd, 0), 0);
	reopen_position_file(w, &position, &found);
	assert_int_equal(position_file_write(&w->file, &older, false, &err), 0);
	reopen_position_file(w, &position, &found);
	assert_int_equal(position.acknowledged, older.acknowledged);
	assert_int_equal(position.handed_over, older.handed_over);
}

static void with_both_damaged_nothing_is_known(void **state)
{
	struct world *w = *state;
	struct spool_position position;
	bool found;

	assert_int_equal(pwrite(w->file.fd, "x", 1, 0), 1);
	assert_int_equal(pwrite(w->file.fd, "x", 1, 512), 1);
	reopen_position_file(w, &position, &found);
	assert_false(found);
}

static void what_comes_after_a_start_is_newer(void **state)
{
	struct world *w = *state;
	const struct spool_position third = {9, 30};
	struct spool_position position;
	struct error err;
	bool found;

	reopen_position_file(w, &position, &found);
	assert_int_equal(position_file_write(&w->file, &third, false, &err), 0);
	reopen_position_file(w, &position, &found);
	assert_int_equal(position.acknowledged, 9);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_world, drop_world)
	const struct CMUnitTest tests[] = {
		TEST(the_newer_of_two_counts),
		TEST(with_one_damaged_the_other_counts_and_all_may_be_sent),
		TEST(the_first_is_in_both),
		TEST(with_both_damaged_nothing_is_known),
		TEST(what_comes_after_a_start_is_newer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
