#include "tests/unit/redirector/hours.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "redirector/counters/counters_file.h"

#define NOON INT64_C(500000) /* an hour since 1970 */

static const struct counters_origin origin = {"here:8080", "edge-1", 0xab,
					      1000};

struct world {
	char dir[64];
};

static int make_world(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	snprintf(w->dir, sizeof(w->dir), "/tmp/shortloop-counters-XXXXXX");
	assert_non_null(mkdtemp(w->dir));
	*state = w;
	return 0;
}

static int drop_world(void **state)
{
	struct world *w = *state;

	unit_remove_dir(w->dir);
	free(w);
	return 0;
}

static struct counters_file *
make_counters_file(const char *dir, const struct counters_origin *whose,
		   size_t writers)
{
	struct error err = {0};
	struct counters_file *f = counters_file_new(dir, whose, writers, &err);

	if (!f)
		fail_msg("%s", err.text);
	return f;
}

/* Returns the number of files that a start finds. */
static size_t list_left_files(struct world *w, struct owned_files *files,
			      size_t *removed)
{
	struct error err = {0};

	assert_int_equal(counters_file_list(w->dir, files, removed, &err), 0);
	return files->count;
}

static size_t count_left(struct world *w)
{
	struct owned_files files;
	size_t removed, count = list_left_files(w, &files, &removed);

	owned_files_release(&files);
	assert_int_equal(removed, 0);
	return count;
}

/* Opens the only file. */
static struct counters_file *open_left(struct world *w, struct error *err)
{
	struct owned_files files;
	struct counters_file *f;
	size_t removed;

	assert_int_equal(list_left_files(w, &files, &removed), 1);
	f = counters_file_open(w->dir, files.names[0], err);
	owned_files_release(&files);
	return f;
}

static void the_next_start_finds_what_was_counted(void **state)
{
	struct world *w = *state;
	struct counters_file *f = make_counters_file(w->dir, &origin, 2);
	struct hour_table table = {0};
	struct hour_writer writer;
	struct error err = {0};

	for (size_t i = 0; i < 2; i++) {
		hour_writer_init(&writer, counters_file_totals(f, i));
		hour_writer_count(&writer, NOON * HOUR_MS, HOUR_REDIRECTED);
		hour_writer_destroy(&writer);
	}
	assert_int_equal(counters_file_next_sequence(f), 1);
	counters_file_free(f);

	f = open_left(w, &err);
	if (!f)
		fail_msg("%s", err.text);
	assert_string_equal(counters_file_origin(f)->instance, "here:8080");
	assert_string_equal(counters_file_origin(f)->edge, "edge-1");
	assert_int_equal(counters_file_origin(f)->boot, 0xab);
	assert_int_equal(counters_file_origin(f)->started_ms, 1000);
	counters_file_add_to(f, &table);
	assert_int_equal(find_hour(&table, NOON)->n[HOUR_REDIRECTED], 2);
	/* The next report continues the former sequence. */
	assert_int_equal(counters_file_next_sequence(f), 2);
	counters_file_remove(f);
	counters_file_free(f);
	assert_int_equal(count_left(w), 0);
}

/* A redirector that hands over lives beside its successor. */
static void what_a_start_counts_is_its_own_while_it_lives(void **state)
{
	struct world *w = *state;
	struct counters_file *f = make_counters_file(w->dir, &origin, 1), *left;
	struct error err = {0};

	assert_null(open_left(w, &err));
	assert_int_equal(err.code, ERROR_BUSY);
	counters_file_free(f);
	left = open_left(w, &err);
	assert_non_null(left);
	/* Only one process reports the file. */
	assert_null(open_left(w, &err));
	assert_int_equal(err.code, ERROR_BUSY);
	counters_file_free(left);
	assert_int_equal(count_left(w), 1);
}

static void without_a_folder_it_counts_all_the_same(void **state)
{
	struct counters_file *f = make_counters_file(NULL, &origin, 1);
	struct hour_writer writer;

	(void)state;
	assert_true(counters_file_is_empty(f));
	hour_writer_init(&writer, counters_file_totals(f, 0));
	hour_writer_count(&writer, NOON * HOUR_MS, HOUR_SILENT);
	hour_writer_destroy(&writer);
	assert_false(counters_file_is_empty(f));
	counters_file_remove(f);
	counters_file_free(f);
}

static void too_many_are_not_kept_but_those_that_live(void **state)
{
	static const struct counters_origin own = {"i", "e", 1, 1};
	struct world *w = *state;
	struct counters_file *f = make_counters_file(w->dir, &own, 1);
	struct owned_files files;
	struct error err;
	size_t removed;

	for (uint64_t boot = 2; boot <= COUNTERS_FILES_MAX + 4; boot++) {
		const struct counters_origin one = {"i", "e", boot, 1};

		counters_file_free(make_counters_file(w->dir, &one, 1));
	}
	list_left_files(w, &files, &removed);
	owned_files_release(&files);
	assert_int_equal(removed, 4);
	assert_int_equal(count_left(w), COUNTERS_FILES_MAX);
	assert_null(
		counters_file_open(w->dir, "counters-0000000000000001", &err));
	assert_int_equal(err.code, ERROR_BUSY);
	counters_file_free(f);
}

static void damage_file(struct world *w, off_t at, size_t size)
{
	static const char bytes[64] = "\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f";
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/counters-00000000000000ab", w->dir);
	fd = open(path, O_WRONLY);
	assert_int_equal(pwrite(fd, bytes, size, at), (ssize_t)size);
	close(fd);
}

static bool is_set_aside(struct world *w)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/counters.rejected", w->dir);
	return unlink(path) == 0;
}

/* Each damage is made in a file of its own, and has its own error. */
static void what_is_none_is_refused_and_set_aside(void **state)
{
	static const struct {
		off_t at;
		size_t size;
		enum error_code code;
	} cases[] = {
		{0, 4, ERROR_DAMAGED}, /* the magic */
		{8, 4, ERROR_CONFIG},  /* the version */
		{12, 4, ERROR_DAMAGED} /* writers */,
		{40, 4, ERROR_DAMAGED} /* started_ms */,
	};
	struct world *w = *state;
	struct error err = {0};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		counters_file_free(make_counters_file(w->dir, &origin, 1));
		damage_file(w, cases[i].at, cases[i].size);
		assert_null(open_left(w, &err));
		assert_int_equal(err.code, cases[i].code);
		assert_int_equal(count_left(w), 0);
		assert_true(is_set_aside(w));
	}
}

/* --- kills ---------------------------------------------------------------- */

/* Events come one after the other; each is answered after it was produced. */
static void count_for_ever(struct counters_file *f)
{
	struct hour_writer writer;

	hour_writer_init(&writer, counters_file_totals(f, 0));
	for (int64_t i = 0;; i++) {
		int64_t at = (NOON + i / 3) * HOUR_MS;

		hour_writer_count(&writer, at, HOUR_PRODUCED);
		hour_writer_count(&writer, at, HOUR_REDIRECTED);
		hour_writer_flush(&writer, i + 1);
	}
}

static void sum_hour_counts(const struct hour_table *t, uint64_t *produced,
			    uint64_t *answered)
{
	*produced = *answered = 0;
	for (size_t i = 0; i < HOUR_TABLE_SIZE; i++) {
		*produced += t->items[i].n[HOUR_PRODUCED];
		*answered += t->items[i].n[HOUR_REDIRECTED];
	}
}

/* This holds even while places are given to other hours again and again. */
static void a_kill_costs_no_more_than_what_is_under_way(void **state)
{
	struct world *w = *state;
	unsigned random = 3;

	for (int i = 0; i < 100; i++) {
		struct counters_file *f =
			make_counters_file(w->dir, &origin, 1);
		struct hour_table *t = calloc(1, sizeof(*t));
		uint64_t produced, answered;
		struct timespec wait = {0, 0};
		pid_t child = fork();
		int64_t until;

		if (child == 0)
			count_for_ever(f);
		random = random * 1103515245 + 12345;
		wait.tv_nsec = 100000 + (long)(random >> 8) % 2000000;
		nanosleep(&wait, NULL);
		kill(child, SIGKILL);
		assert_int_equal(waitpid(child, NULL, 0), child);
		until = hour_totals_add_to(counters_file_totals(f, 0), t);
		sum_hour_counts(t, &produced, &answered);
		assert_true(produced == answered || produced == answered + 1);
		/* The last 256 hours are counted, three counts for each. */
		if (until > 3)
			assert_true(
				produced >=
				(until < 3 * 255 ? (uint64_t)until : 3 * 254));
		assert_true(produced <= 3 * 256);
		counters_file_remove(f);
		counters_file_free(f);
		free(t);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_world, drop_world)
	const struct CMUnitTest tests[] = {
		TEST(the_next_start_finds_what_was_counted),
		TEST(without_a_folder_it_counts_all_the_same),
		TEST(what_a_start_counts_is_its_own_while_it_lives),
		TEST(too_many_are_not_kept_but_those_that_live),
		TEST(what_is_none_is_refused_and_set_aside),
		TEST(a_kill_costs_no_more_than_what_is_under_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
