/* Journals of former processes, some of which cannot be taken. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

#include "redirector/events/journal_files.h"

/* Replaces libc's functions: a folder cannot be listed, a file cannot be
 * opened, and another cannot be removed. */
static const char *not_opened, *not_removed;

int openat(int dir, const char *name, int flags, ...)
{
	if (not_opened && strcmp(name, not_opened) == 0) {
		errno = EIO;
		return -1;
	}
	return (int)syscall(SYS_openat, dir, name, flags, 0600);
}

int unlinkat(int dir, const char *name, int flags)
{
	if (not_removed && strcmp(name, not_removed) == 0) {
		errno = EIO;
		return -1;
	}
	return (int)syscall(SYS_unlinkat, dir, name, flags);
}

struct world {
	char dir[64];
	size_t events, damaged; /* counts of the files that were taken */
};

static int make_world(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	snprintf(w->dir, sizeof(w->dir), "/tmp/shortloop-journals-XXXXXX");
	assert_non_null(mkdtemp(w->dir));
	*state = w;
	return 0;
}

static int drop_world(void **state)
{
	struct world *w = *state;

	not_opened = not_removed = NULL;
	unit_remove_dir(w->dir);
	free(w);
	return 0;
}

/* Makes a journal and renames it. */
static void leave_journal(struct world *w, const char *name, size_t events)
{
	const struct event_journal_options options = {w->dir, 1, 1 << 20, 1000};
	struct error err = {0};
	struct event_journal *j = event_journal_new(&options, &err);
	char command[256];

	if (!j)
		fail_msg("%s", err.text);
	for (size_t i = 0; i < events; i++)
		assert_non_null(event_journal_put(j, 0, 1, "event", 5));
	event_journal_free(j);
	snprintf(command, sizeof(command),
		 "mv %s/" JOURNAL_PREFIX "???????????????? %s/%s", w->dir,
		 w->dir, name);
	assert_int_equal(system(command), 0);
}

static int count_rest(void *arg, const struct journal_rest *rest,
		      size_t *ret_taken, struct error *err)
{
	struct world *w = arg;

	(void)ret_taken;
	(void)err;
	w->events += rest->count;
	w->damaged += rest->damaged;
	return 0;
}

static void fail_on_rejected(void *arg, const struct error *why)
{
	(void)arg;
	fail_msg("rejected: %s", why->text);
}

static int take_left(struct world *w, struct error *err)
{
	const struct journal_taker taker = {count_rest, fail_on_rejected, w};

	return journal_files_take(w->dir, &taker, err);
}

static void a_folder_that_cannot_be_listed_is_an_error(void **state)
{
	struct world *w = *state;
	struct error err = {0};

	leave_journal(w, JOURNAL_PREFIX "a", 3);
	not_opened = ".";
	assert_int_equal(take_left(w, &err), -1);
	assert_int_equal(err.sys, EIO);
	assert_non_null(strstr(err.text, w->dir));
	not_opened = NULL;
	assert_int_equal(take_left(w, &err), 0);
	assert_int_equal(w->events, 3);
}

static void a_folder_that_is_not_there_is_an_error(void **state)
{
	struct world *w = *state;
	struct error err = {0};

	unit_remove_dir(w->dir);
	assert_int_equal(take_left(w, &err), -1);
	assert_int_equal(err.sys, ENOENT);
	assert_non_null(strstr(err.text, w->dir));
}

/* The file may come first or last. */
static void one_that_cannot_be_opened_keeps_nobody_from_the_others(void **state)
{
	static const char *const names[] = {JOURNAL_PREFIX "a",
					    JOURNAL_PREFIX "b"};
	struct world *w = *state;
	struct error err = {0};

	for (size_t i = 0; i < 2; i++) {
		w->events = 0;
		leave_journal(w, names[0], 3);
		leave_journal(w, names[1], 3);
		not_opened = names[i];
		assert_int_equal(take_left(w, &err), -1);
		assert_int_equal(err.sys, EIO);
		assert_non_null(strstr(err.text, names[i]));
		assert_int_equal(w->events, 3);
		not_opened = NULL;
		assert_int_equal(take_left(w, &err), 0);
		assert_int_equal(w->events, 6);
	}
}

static void what_was_taken_of_one_that_stays_is_not_taken_again(void **state)
{
	struct world *w = *state;
	struct error err = {0};

	leave_journal(w, JOURNAL_PREFIX "a", 3);
	not_removed = JOURNAL_PREFIX "a";
	assert_int_equal(take_left(w, &err), -1);
	assert_int_equal(err.sys, EIO);
	assert_non_null(strstr(err.text, "cannot remove it"));
	assert_int_equal(w->events, 3);
	not_removed = NULL;
	assert_int_equal(take_left(w, &err), 0);
	assert_int_equal(w->events, 3);
	assert_int_equal(w->damaged, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_world, drop_world)
	const struct CMUnitTest tests[] = {
		TEST(a_folder_that_cannot_be_listed_is_an_error),
		TEST(a_folder_that_is_not_there_is_an_error),
		TEST(one_that_cannot_be_opened_keeps_nobody_from_the_others),
		TEST(what_was_taken_of_one_that_stays_is_not_taken_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
