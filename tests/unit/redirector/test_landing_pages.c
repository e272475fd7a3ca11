#include "tests/unit/unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "common/drop_const.h"
#include "redirector/pages/landing_pages.h"

#define PAGE(text) text "<p>{{open}} {{fallback}}"
#define READERS	   3

static void write_page(const char *path, const char *text)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

static struct reloadable *pages_of(const char *app_path)
{
	static struct redirector_settings settings;
	struct error err = {0};
	struct reloadable *p;

	settings.app_page_file = drop_const(app_path);
	p = reloadable_new(&landing_pages_kind, &settings, &err);
	if (!p)
		fail_msg("%s", err.text);
	return p;
}

static bool begins_with(struct versions_user *user, enum landing which,
			const char *text)
{
	const struct http_slice none[PAGE_VALUES] = {{"", 0}, {"", 0}, {"", 0}};
	struct buf out = {0};
	bool found;

	page_template_write(landing_pages_use(user, which), none, &out);
	found = out.len >= strlen(text) &&
		!memcmp(out.data, text, strlen(text));
	buf_free(&out);
	return found;
}

static void ours_are_there_without_files(void **state)
{
	struct reloadable *p = pages_of(NULL);
	struct versions_user user;

	(void)state;
	reloadable_join(p, &user);
	assert_false(reloadable_has_file(p));
	assert_true(begins_with(&user, LANDING_APP, "<!doctype html>"));
	assert_true(
		begins_with(&user, LANDING_MINI_PROGRAM, "<!doctype html>"));
	versions_leave(&user);
	reloadable_free(p);
}

static void a_reload_is_seen_and_a_mistake_leaves_the_old_page(void **state)
{
	char path[64];
	struct reloadable *p = pages_of(unit_write_file(PAGE("1"), path));
	struct versions_user user;
	struct error err;

	(void)state;
	reloadable_join(p, &user);
	assert_true(reloadable_has_file(p));
	assert_true(begins_with(&user, LANDING_APP, "1"));
	write_page(path, PAGE("2"));
	assert_int_equal(reloadable_read(p, &err), 0);
	assert_true(begins_with(&user, LANDING_APP, "2"));
	write_page(path, "3\n{{nothing}}");
	assert_int_equal(reloadable_read(p, &err), -1);
	assert_non_null(strstr(err.text, path));
	assert_non_null(strstr(err.text, ":2: {{ begins no value"));
	assert_true(begins_with(&user, LANDING_APP, "2"));
	versions_leave(&user);
	reloadable_free(p);
	unlink(path);
}

static void a_file_that_is_not_there_ends_the_start(void **state)
{
	char path[] = "/nonexistent/app.html";
	const struct redirector_settings settings = {.mini_program_page_file =
							     path};
	struct error err = {0};

	(void)state;
	assert_null(reloadable_new(&landing_pages_kind, &settings, &err));
	assert_non_null(strstr(err.text, path));
}

/* --- threads -------------------------------------------------------------- */

struct reader {
	struct reloadable *pages;
	atomic_bool *stop;
	bool failed;
};

static void *read_pages(void *arg)
{
	struct reader *r = arg;
	struct versions_user user;

	reloadable_join(r->pages, &user);
	while (!atomic_load(r->stop) && !r->failed)
		r->failed = !begins_with(&user, LANDING_APP, "page");
	versions_leave(&user);
	return NULL;
}

static void threads_use_pages_that_are_replaced(void **state)
{
	char path[64];
	struct reloadable *p = pages_of(unit_write_file(PAGE("page"), path));
	struct reader readers[READERS];
	pthread_t threads[READERS];
	atomic_bool stop = false;
	struct error err;

	(void)state;
	for (int i = 0; i < READERS; i++) {
		readers[i] = (struct reader){p, &stop, false};
		assert_int_equal(pthread_create(&threads[i], NULL, read_pages,
						&readers[i]),
				 0);
	}
	for (int i = 0; i < 500; i++)
		assert_int_equal(reloadable_read(p, &err), 0);
	atomic_store(&stop, true);
	for (int i = 0; i < READERS; i++) {
		pthread_join(threads[i], NULL);
		assert_false(readers[i].failed);
	}
	reloadable_free(p);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ours_are_there_without_files),
		cmocka_unit_test(
			a_reload_is_seen_and_a_mistake_leaves_the_old_page),
		cmocka_unit_test(a_file_that_is_not_there_ends_the_start),
		cmocka_unit_test(threads_use_pages_that_are_replaced),
	};

	return cmocka_run_group_tests_name("landing_pages", tests, NULL, NULL);
}
