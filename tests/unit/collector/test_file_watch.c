#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "collector/ingest/file_watch.h"

static char directory[] = "/tmp/shortloop-watch-XXXXXX";
static char paths[2][64];

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void replace_file(const char *path, const char *text)
{
	char fresh[80];

	snprintf(fresh, sizeof(fresh), "%s.new", path);
	write_file(fresh, text);
	assert_int_equal(rename(fresh, path), 0);
}

static struct file_watch *watch_files(void)
{
	static char *items[] = {paths[0], paths[1]};
	static const struct setting_strings files = {items, 2};
	struct error err = {0};
	struct file_watch *w;

	replace_file(paths[0], "one");
	replace_file(paths[1], "two");
	w = file_watch_new(&files, &err);
	assert_non_null(w);
	assert_false(file_watch_changed(w));
	return w;
}

static void a_file_that_was_replaced_is_told_of_once(void **state)
{
	struct file_watch *w = watch_files();

	(void)state;
	replace_file(paths[1], "new");
	assert_false(file_watch_changed(
		w)); /* the file may still be being written */
	assert_true(file_watch_changed(w));
	assert_false(file_watch_changed(w));
	file_watch_free(w);
}

static void a_file_that_grows_is_waited_for(void **state)
{
	struct file_watch *w = watch_files();

	(void)state;
	write_file(paths[0], "a");
	assert_false(file_watch_changed(w));
	write_file(paths[0], "ab");
	assert_false(file_watch_changed(w));
	assert_true(file_watch_changed(w));
	file_watch_free(w);
}

static void a_file_that_is_missing_is_waited_for(void **state)
{
	struct file_watch *w = watch_files();
	char aside[80];

	(void)state;
	snprintf(aside, sizeof(aside), "%s.aside", paths[0]);
	assert_int_equal(rename(paths[0], aside), 0);
	assert_false(file_watch_changed(w));
	assert_false(file_watch_changed(w));
	assert_int_equal(rename(aside, paths[0]), 0);
	assert_false(file_watch_changed(w)); /* the same content again */
	assert_false(file_watch_changed(w));
	unlink(paths[0]);
	assert_false(file_watch_changed(w));
	write_file(paths[0], "other");
	assert_false(file_watch_changed(w));
	assert_true(file_watch_changed(w));
	file_watch_free(w);
}

static void a_link_that_is_turned_elsewhere_is_noticed(void **state)
{
	struct file_watch *w = watch_files();

	(void)state;
	unlink(paths[0]);
	assert_int_equal(symlink(paths[1], paths[0]), 0);
	assert_false(file_watch_changed(w));
	assert_true(file_watch_changed(w));
	unlink(paths[0]);
	file_watch_free(w);
}

static void what_was_read_meanwhile_is_not_told_of(void **state)
{
	struct file_watch *w = watch_files();

	(void)state;
	replace_file(paths[0], "new");
	file_watch_seen(w);
	assert_false(file_watch_changed(w));
	assert_false(file_watch_changed(w));
	file_watch_free(w);
}

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(directory))
		return -1;
	for (int i = 0; i < 2; i++)
		snprintf(paths[i], sizeof(paths[i]), "%s/%d", directory, i);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++)
		unlink(paths[i]);
	return rmdir(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_that_was_replaced_is_told_of_once),
		cmocka_unit_test(a_file_that_grows_is_waited_for),
		cmocka_unit_test(a_file_that_is_missing_is_waited_for),
		cmocka_unit_test(a_link_that_is_turned_elsewhere_is_noticed),
		cmocka_unit_test(what_was_read_meanwhile_is_not_told_of),
	};

	return cmocka_run_group_tests_name("file_watch", tests, set_up,
					   tear_down);
}
