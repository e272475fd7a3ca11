#include "tests/unit/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "redirector/counters/owned_files.h"

struct world {
	char path[64];
	int dir;
};

static int make_world(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	snprintf(w->path, sizeof(w->path), "/tmp/shortloop-owned-XXXXXX");
	assert_non_null(mkdtemp(w->path));
	w->dir = open(w->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(w->dir >= 0);
	*state = w;
	return 0;
}

static int drop_world(void **state)
{
	struct world *w = *state;

	close(w->dir);
	unit_remove_dir(w->path);
	free(w);
	return 0;
}

static int make_owned_file(struct world *w, const char *name)
{
	struct error err = {0};
	int fd = owned_file_make(w->dir, name, &err);

	if (fd < 0)
		fail_msg("%s", err.text);
	assert_int_equal(write(fd, "x", 1), 1);
	return fd;
}

static enum error_code code_of_take(struct world *w, const char *name)
{
	struct error err = {0};
	int fd = owned_file_take(w->dir, name, &err);

	if (fd < 0)
		return err.code;
	close(fd);
	return ERROR_NONE;
}

static bool file_is_there(struct world *w, const char *name)
{
	return faccessat(w->dir, name, F_OK, 0) == 0;
}

static void who_lives_owns_it(void **state)
{
	struct world *w = *state;
	int fd = make_owned_file(w, "file");

	assert_int_equal(code_of_take(w, "file"), ERROR_BUSY);
	close(fd);
	assert_int_equal(code_of_take(w, "file"), ERROR_NONE);
	assert_int_equal(code_of_take(w, "none"), ERROR_NOTFOUND);
}

static void who_takes_it_owns_it(void **state)
{
	struct world *w = *state;
	struct error err = {0};
	int fd;

	close(make_owned_file(w, "file"));
	fd = owned_file_take(w->dir, "file", &err);
	assert_true(fd >= 0);
	assert_int_equal(code_of_take(w, "file"), ERROR_BUSY);
	close(fd);
}

static void a_mapping_owns_it(void **state)
{
	struct world *w = *state;
	int fd = make_owned_file(w, "file");
	void *at = mmap(NULL, 1, PROT_READ, MAP_SHARED, fd, 0);

	assert_true(at != MAP_FAILED);
	close(fd);
	assert_int_equal(code_of_take(w, "file"), ERROR_BUSY);
	munmap(at, 1);
	assert_int_equal(code_of_take(w, "file"), ERROR_NONE);
}

static void a_kill_frees_it(void **state)
{
	struct world *w = *state;
	int said[2], status;
	pid_t child;
	char c;

	assert_int_equal(pipe(said), 0);
	child = fork();
	if (child == 0) {
		make_owned_file(w, "file");
		(void)!write(said[1], "x", 1);
		for (;;)
			pause();
	}
	assert_int_equal(read(said[0], &c, 1), 1);
	assert_int_equal(code_of_take(w, "file"), ERROR_BUSY);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(code_of_take(w, "file"), ERROR_NONE);
	close(said[0]);
	close(said[1]);
}

static void a_name_in_use_is_not_made_anew(void **state)
{
	struct world *w = *state;
	struct error err = {0};

	close(make_owned_file(w, "file"));
	assert_int_equal(owned_file_make(w->dir, "file", &err), -1);
	assert_int_equal(err.code, ERROR_SYSTEM);
}

/* The owner was killed, or will lock the file in a moment: after a minute only
 * the first is possible. */
static void an_empty_one_is_nobodys(void **state)
{
	const struct timespec long_ago[2] = {{.tv_sec = time(NULL) - 120},
					     {.tv_sec = time(NULL) - 120}};
	struct world *w = *state;
	struct error err = {0};
	int fd = owned_file_make(w->dir, "file", &err);

	assert_true(fd >= 0);
	assert_int_equal(code_of_take(w, "file"), ERROR_BUSY);
	close(fd);
	assert_int_equal(code_of_take(w, "file"), ERROR_NOTFOUND);
	assert_true(file_is_there(w, "file"));
	assert_int_equal(utimensat(w->dir, "file", long_ago, 0), 0);
	assert_int_equal(code_of_take(w, "file"), ERROR_NOTFOUND);
	assert_false(file_is_there(w, "file"));
}

static void what_is_written_to_a_mapping_is_in_the_file(void **state)
{
	struct world *w = *state;
	struct error err = {0};
	int fd = make_owned_file(w, "file");
	char *bytes, read[3] = {0};
	void *at;

	assert_int_equal(owned_file_map(fd, 8192, &at, &err), 0);
	bytes = at;
	assert_int_equal(bytes[0], 'x');
	assert_int_equal(bytes[8191], 0);
	bytes[8191] = 'y';
	assert_int_equal(munmap(at, 8192), 0);
	assert_int_equal(pread(fd, read, 2, 8191), 1);
	assert_string_equal(read, "y");
	close(fd);
}

static void a_size_no_disk_has_is_an_error(void **state)
{
	struct world *w = *state;
	struct error err = {0};
	int fd = make_owned_file(w, "file");
	void *at;

	assert_int_equal(owned_file_map(fd, (size_t)1 << 62, &at, &err), -1);
	assert_non_null(strstr(err.text, "no room for it"));
	close(fd);
}

static void they_are_listed_by_age(void **state)
{
	struct world *w = *state;
	struct owned_files files;
	struct error err = {0};

	close(make_owned_file(w, "a-2"));
	usleep(20000);
	close(make_owned_file(w, "a-1"));
	close(make_owned_file(w, "b-1"));
	assert_int_equal(mkdirat(w->dir, "a-3", 0700), 0);
	assert_int_equal(symlinkat("b-1", w->dir, "a-4"), 0);
	assert_int_equal(owned_files_list(w->dir, "a-", &files, &err), 0);
	assert_int_equal(files.count, 2);
	assert_string_equal(files.names[0], "a-2");
	assert_string_equal(files.names[1], "a-1");
	owned_files_release(&files);
	assert_int_equal(code_of_take(w, "a-4"), ERROR_SYSTEM);
}

/* --- several at a time ---------------------------------------------------- */

enum {
	PROCESSES = 4,
	FILES = 300,
};

static void name_of(int i, char ret[OWNED_NAME_SIZE])
{
	snprintf(ret, OWNED_NAME_SIZE, "file-%d", i);
}

/* Takes and removes files, and adds up their values. */
static void take_all(struct world *w, _Atomic int *taken)
{
	char name[OWNED_NAME_SIZE];
	struct error err;

	for (int i = 0; i < FILES; i++) {
		int fd;

		name_of(i, name);
		fd = owned_file_take(w->dir, name, &err);
		if (fd < 0)
			continue;
		taken[i]++;
		unlinkat(w->dir, name, 0);
		close(fd);
	}
}

static void each_is_taken_once(void **state)
{
	struct world *w = *state;
	_Atomic int *taken =
		mmap(NULL, FILES * sizeof(*taken), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char name[OWNED_NAME_SIZE];
	int status;

	for (int i = 0; i < FILES; i++) {
		name_of(i, name);
		close(make_owned_file(w, name));
	}
	for (int i = 0; i < PROCESSES; i++)
		if (fork() == 0) {
			take_all(w, taken);
			_exit(0);
		}
	for (int i = 0; i < PROCESSES; i++)
		assert_true(wait(&status) > 0 && status == 0);
	for (int i = 0; i < FILES; i++) {
		name_of(i, name);
		assert_false(file_is_there(w, name));
		assert_int_equal(taken[i], 1);
	}
	munmap(taken, FILES * sizeof(*taken));
}

/* A process that checks all the time sees a new file only under its name and
 * with its owner. */
static void nobody_takes_one_that_is_being_made(void **state)
{
	struct world *w = *state;
	pid_t child = fork();
	int status;

	if (child == 0)
		for (;;) {
			enum error_code code = code_of_take(w, "file");

			if (code != ERROR_BUSY && code != ERROR_NOTFOUND)
				_exit(1);
		}
	for (int i = 0; i < 3000; i++) {
		int fd = make_owned_file(w, "file");

		assert_true(file_is_there(w, "file"));
		unlinkat(w->dir, "file", 0);
		close(fd);
	}
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
}

/* The file was renamed before it was locked, so another process has it. */
static void one_that_was_renamed_is_gone(void **state)
{
	struct world *w = *state;
	struct error err = {0};
	int fd = make_owned_file(w, "file"), status;
	pid_t child = fork();

	if (child == 0) {
		close(fd);
		/* Another process opens the file by its name at some time, or
		 * does not. */
		for (;;)
			switch (code_of_take(w, "file")) {
			case ERROR_BUSY:
				continue;
			case ERROR_NOTFOUND:
				_exit(0);
			default:
				_exit(1);
			}
	}
	usleep(20000);
	assert_int_equal(renameat(w->dir, "file", w->dir, "other"), 0);
	close(fd);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	fd = owned_file_take(w->dir, "other", &err);
	assert_true(fd >= 0);
	close(fd);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_world, drop_world)
	const struct CMUnitTest tests[] = {
		TEST(who_lives_owns_it),
		TEST(who_takes_it_owns_it),
		TEST(a_mapping_owns_it),
		TEST(a_kill_frees_it),
		TEST(a_name_in_use_is_not_made_anew),
		TEST(an_empty_one_is_nobodys),
		TEST(what_is_written_to_a_mapping_is_in_the_file),
		TEST(a_size_no_disk_has_is_an_error),
		TEST(they_are_listed_by_age),
		TEST(each_is_taken_once),
		TEST(nobody_takes_one_that_is_being_made),
		TEST(one_that_was_renamed_is_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
