/* The high water of a space, kept over restarts (promise 10). */
#include "tests/unit/linkstore/fixture.h"

#include <fcntl.h>
#include <pthread.h>

#include "linkstore/space/high_water_file.h"
#include "linkstore/space/raise_cursor.h"

static char path[64];

static int setup_file(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	fixture_configure_all(f);
	fixture_open_store(f);
	unit_write_file("", path);
	unlink(path);
	*state = f;
	return 0;
}

static int teardown_file(void **state)
{
	struct fixture *f = *state;

	unlink(path);
	linkstore_free(f->store);
	free(f);
	return 0;
}

static struct high_water_file *open_file(struct fixture *f)
{
	struct high_water_file *file =
		high_water_file_open(path, f->store, &f->err);

	if (!file)
		fail_msg("%s", f->err.text);
	return file;
}

static void must_not_open(struct fixture *f, enum error_code code)
{
	f->err = (struct error){0};
	assert_int_equal(high_water_file_check(path, f->store, &f->err), -1);
	if (f->err.code != code)
		fail_msg("unexpected: %s", f->err.text);
	f->err = (struct error){0};
	assert_null(high_water_file_open(path, f->store, &f->err));
	if (f->err.code != code)
		fail_msg("unexpected: %s", f->err.text);
}

static void note_cursor(struct high_water_file *file, const struct fixture *f,
			uint64_t cursor)
{
	high_water_file_note(file, f->space,
			     &(struct high_water){.cursor = cursor});
}

static void moves_and_generation_are_remembered_beside_the_cursor(void **state)
{
	struct fixture *f = *state;
	struct high_water_file *file = open_file(f);
	struct high_water high_water = {.cursor = 5,
					.moves = UINT64_C(4398046511103),
					.generation = 32767};

	high_water_file_note(file, f->space, &high_water);
	high_water_file_free(file);
	file = open_file(f);
	high_water = high_water_file_get(file, f->space);
	assert_int_equal(high_water.moves, UINT64_C(4398046511103));
	assert_int_equal(high_water.generation, 32767);
	assert_int_equal(high_water.cursor, 5);
	/* Moves of more than 42 bits are not stored and damage nothing. */
	high_water.moves = UINT64_C(4398046511104);
	high_water_file_note(file, f->space, &high_water);
	assert_int_equal(high_water_file_get(file, f->space).moves,
			 UINT64_C(4398046511103));
	high_water_file_free(file);
}

static void what_was_seen_is_remembered(void **state)
{
	struct fixture *f = *state;
	struct high_water_file *file = open_file(f);

	assert_int_equal(high_water_file_get(file, f->space).cursor, 0);
	note_cursor(file, f, 14776);
	high_water_file_free(file);
	file = open_file(f);
	assert_int_equal(high_water_file_get(file, f->space).cursor, 14776);
	high_water_file_free(file);
}

static void it_never_goes_down(void **state)
{
	struct fixture *f = *state;
	struct high_water_file *file = open_file(f);

	note_cursor(file, f, 20);
	note_cursor(file, f, 10);
	assert_int_equal(high_water_file_get(file, f->space).cursor, 20);
	high_water_file_free(file);
}

static void without_a_file_it_is_kept_in_memory(void **state)
{
	struct fixture *f = *state;
	struct high_water_file *file =
		high_water_file_open(NULL, f->store, &f->err);

	assert_non_null(file);
	note_cursor(file, f, 20);
	assert_int_equal(high_water_file_get(file, f->space).cursor, 20);
	high_water_file_free(file);
}

static void another_space_of_that_number_is_found_out(void **state)
{
	struct fixture *f = *state;

	high_water_file_free(open_file(f));
	f->spaces[0].block_size = 100;
	fixture_open_store(f);
	must_not_open(f, ERROR_CONFIG);
	assert_non_null(strstr(f->err.text, "blocks of 1000"));
}

static void write_file_bytes(off_t at, const char *bytes, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0600);

	assert_int_equal(pwrite(fd, bytes, len, at), len);
	close(fd);
}

static void a_damaged_entry_is_refused(void **state)
{
	struct fixture *f = *state;
	struct high_water_file *file = open_file(f);

	note_cursor(file, f, 14000);
	high_water_file_free(file);
	/* The block number differs by one bit. */
	write_file_bytes(64 * 5 + 40, "\xb1", 1);
	must_not_open(f, ERROR_UNSAFE);
	/* The moves are not plausible. */
	write_file_bytes(64 * 5 + 40, "\xb0", 1);
	write_file_bytes(64 * 5 + 48, "\x01", 1);
	must_not_open(f, ERROR_UNSAFE);
}

/* The file is in the format of an earlier version, with that version's magic.
 */
static void a_file_of_an_earlier_version_is_read(void **state)
{
	static const char entry[64] =
		"s5\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
		"\x05\0\0\0\x3e\0\0\0\xe8\x03\0\0\0\0\0\0"
		"\x05\0\0\0\0\x80\xa5\x5a"
		"\xff\xff\xff\xff\xff\xdb\xb4\xa2"
		"\xff\x7f\0\0\0\x30\x5e\x99";
	char page[4096] = "shortloop seen 1";
	struct fixture *f = *state;
	struct high_water_file *file;
	struct high_water high_water;

	memcpy(page + sizeof(entry) * 5, entry, sizeof(entry));
	write_file_bytes(0, page, sizeof(page));
	file = open_file(f);
	high_water = high_water_file_get(file, f->space);
	assert_int_equal(high_water.cursor, 5);
	assert_int_equal(high_water.moves, UINT64_C(4398046511103));
	assert_int_equal(high_water.generation, 32767);
	high_water_file_free(file);
}

static void any_other_file_is_refused(void **state)
{
	struct fixture *f = *state;
	char page[4096] = "something else";

	write_file_bytes(0, "short", 5);
	must_not_open(f, ERROR_CONFIG);
	write_file_bytes(0, page, sizeof(page));
	must_not_open(f, ERROR_CONFIG);
}

static void a_folder_that_is_not_there_is_told(void **state)
{
	struct fixture *f = *state;

	strcpy(path, "/nonexistent/high-water");
	must_not_open(f, ERROR_SYSTEM);
	assert_non_null(strstr(f->err.text, "/nonexistent/high-water"));
}

static void read_file_page(char ret_page[4096])
{
	int fd = open(path, O_RDONLY);

	assert_int_equal(read(fd, ret_page, 4096), 4096);
	close(fd);
}

/* The program that checks the file may run as another user than the allocator.
 */
static void a_file_that_is_checked_is_not_written_to(void **state)
{
	struct fixture *f = *state;
	char before[4096], after[4096];

	must(f, high_water_file_check(NULL, f->store, &f->err));
	must(f, high_water_file_check(path, f->store, &f->err));
	assert_int_equal(access(path, F_OK), -1);
	/* The file has a space without blocks first, then all spaces. */
	f->config.spaces = (struct setting_list){&f->spaces[1], 1};
	fixture_open_store(f);
	high_water_file_free(open_file(f));
	f->config.spaces = (struct setting_list){f->spaces, 4};
	fixture_open_store(f);
	read_file_page(before);
	must(f, high_water_file_check(path, f->store, &f->err));
	read_file_page(after);
	assert_memory_equal(before, after, sizeof(after));
	high_water_file_free(open_file(f));
	read_file_page(after);
	assert_memory_not_equal(before, after, sizeof(after));
}

struct noter {
	struct high_water_file *file;
	const struct link_space *space;
	uint64_t first;
};

static void *note_many(void *arg)
{
	struct noter *n = arg;

	for (uint64_t i = n->first; i < 14000; i += 4)
		high_water_file_note(n->file, n->space,
				     &(struct high_water){.cursor = i});
	return NULL;
}

/* Two mappings stand for two processes, with two threads on each. */
static void many_note_at_once_and_the_highest_stays(void **state)
{
	struct fixture *f = *state;
	struct high_water_file *files[2] = {open_file(f), open_file(f)};
	struct noter noters[4];
	pthread_t threads[4];

	for (uint64_t i = 0; i < 4; i++) {
		noters[i] = (struct noter){files[i / 2], f->space, i};
		pthread_create(&threads[i], NULL, note_many, &noters[i]);
	}
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(high_water_file_get(files[0], f->space).cursor, 13999);
	high_water_file_free(files[0]);
	high_water_file_free(files[1]);
	files[0] = open_file(f);
	assert_int_equal(high_water_file_get(files[0], f->space).cursor, 13999);
	high_water_file_free(files[0]);
}

/* All allocators restart while Redis is restored from an old backup. */
static void a_backup_is_lifted_by_what_the_file_remembers(void **state)
{
	struct fixture *f = *state;
	struct high_water high_water;
	struct high_water_file *file;
	struct grant g;

	strcpy(path, f->server.dir);
	strcat(path, "/high-water");
	file = open_file(f);
	redis_server_keep(&f->server);
	for (int i = 0; i < 8; i++)
		g = make_grant(f, f->day, 256);
	high_water_file_note(file, f->space, &g.high_water);
	high_water_file_free(file);
	redis_server_forget(&f->server);
	file = open_file(f);
	high_water = high_water_file_get(file, f->space);
	must(f, space_raise_cursor(f->server.redis, f->space, &high_water,
				   &f->err));
	high_water_file_free(file);
	g = make_grant(f, f->day, 1);
	assert_true(g.ranges[0].first >= 2048);
}

#define FILE_TEST(name)                                                        \
	cmocka_unit_test_setup_teardown(name, setup_file, teardown_file)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FILE_TEST(what_was_seen_is_remembered),
		FILE_TEST(
			moves_and_generation_are_remembered_beside_the_cursor),
		FILE_TEST(it_never_goes_down),
		FILE_TEST(without_a_file_it_is_kept_in_memory),
		FILE_TEST(another_space_of_that_number_is_found_out),
		FILE_TEST(a_damaged_entry_is_refused),
		FILE_TEST(a_file_of_an_earlier_version_is_read),
		FILE_TEST(any_other_file_is_refused),
		FILE_TEST(a_file_that_is_checked_is_not_written_to),
		FILE_TEST(a_folder_that_is_not_there_is_told),
		FILE_TEST(many_note_at_once_and_the_highest_stays),
		TEST(a_backup_is_lifted_by_what_the_file_remembers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
