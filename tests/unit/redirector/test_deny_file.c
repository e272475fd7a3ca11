#include <pthread.h>
#include <stdatomic.h>

#include "redirector/visit/deny_file.h"
#include "tests/unit/redirector/deny_world.h"

static bool is_denied(struct deny_view *view, const char *text)
{
	struct address a = address_of(text);

	return deny_view_has(view, &a);
}

static struct reloadable *file_of(const struct deny_text *text)
{
	struct error err = {0};
	struct reloadable *file =
		reloadable_new(&deny_file_kind, text->path, &err);

	assert_non_null(file);
	return file;
}

static void without_a_file_nobody_is_denied(void **state)
{
	struct deny_view view = {0};

	(void)state;
	assert_false(is_denied(&view, "192.0.2.1"));
	deny_view_release(&view);
}

static void a_reload_is_seen_at_once_by_every_view(void **state)
{
	struct deny_text text = text_file("192.0.2.0/24\n");
	struct reloadable *file = file_of(&text);
	struct deny_view one, other;
	struct error err;

	(void)state;
	deny_view_join(&one, file);
	deny_view_join(&other, file);
	assert_true(is_denied(&one, "192.0.2.1"));
	write_text(&text, "198.51.100.0/24\n203.0.113.0/24\n");
	assert_int_equal(reloadable_read(file, &err), 0);
	assert_false(is_denied(&one, "192.0.2.1"));
	assert_true(is_denied(&one, "198.51.100.1"));
	assert_true(is_denied(&one, "203.0.113.1"));
	assert_true(is_denied(&other, "198.51.100.1"));
	deny_view_release(&one);
	deny_view_release(&other);
	reloadable_free(file);
	unlink(text.path);
}

static void a_file_with_a_mistake_leaves_the_old_list(void **state)
{
	struct deny_text text = text_file("192.0.2.0/24\n");
	struct reloadable *file = file_of(&text);
	struct deny_view view;
	struct error err;

	(void)state;
	deny_view_join(&view, file);
	write_text(&text, "198.51.100.0/24\nnonsense\n");
	assert_int_equal(reloadable_read(file, &err), -1);
	assert_non_null(strstr(err.text, ":2: 'nonsense'"));
	assert_true(is_denied(&view, "192.0.2.1"));
	assert_false(is_denied(&view, "198.51.100.1"));
	deny_view_release(&view);
	reloadable_free(file);
	unlink(text.path);
}

/* --- threads -------------------------------------------------------------- */

struct looker {
	struct reloadable *file;
	atomic_bool *stop;
	bool failed;
};

/* Each version of the file denies 192.0.2.1, and nothing of 10.0.0.0/8. */
static void *check_view_until_stopped(void *arg)
{
	struct looker *l = arg;
	struct deny_view view;
	struct address in = {4, {192, 0, 2, 1}}, out = {4, {10, 0, 0, 1}};

	deny_view_join(&view, l->file);
	while (!atomic_load(l->stop) && !l->failed)
		l->failed = !deny_view_has(&view, &in) ||
			    deny_view_has(&view, &out);
	deny_view_release(&view);
	return NULL;
}

static void threads_look_while_it_is_read_again(void **state)
{
	struct deny_text text = text_file("192.0.2.0/24\n");
	struct reloadable *file = file_of(&text);
	atomic_bool stop = false;
	struct looker lookers[3];
	pthread_t threads[3];
	struct error err;

	(void)state;
	for (int i = 0; i < 3; i++) {
		lookers[i] = (struct looker){file, &stop, false};
		assert_int_equal(pthread_create(&threads[i], NULL,
						check_view_until_stopped,
						&lookers[i]),
				 0);
	}
	for (int i = 0; i < 500; i++)
		assert_int_equal(reloadable_read(file, &err), 0);
	atomic_store(&stop, true);
	for (int i = 0; i < 3; i++) {
		pthread_join(threads[i], NULL);
		assert_false(lookers[i].failed);
	}
	reloadable_free(file);
	unlink(text.path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_file_nobody_is_denied),
		cmocka_unit_test(a_reload_is_seen_at_once_by_every_view),
		cmocka_unit_test(a_file_with_a_mistake_leaves_the_old_list),
		cmocka_unit_test(threads_look_while_it_is_read_again),
	};

	return cmocka_run_group_tests_name("deny_file", tests, NULL, NULL);
}
