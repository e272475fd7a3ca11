#include <sys/stat.h>

#include "tests/unit/allocator/audit_world.h"

static void it_writes_behind_what_is_there(void **state)
{
	struct world *w = *state;

	json_decref(line_after(w, AUDIT_CREATED, NULL, &w->link));
	json_decref(line_after(w, AUDIT_CREATED, NULL, &w->link));
	assert_int_equal(lines_of(w->path), 2);
}

static void many_lines_all_arrive(void **state)
{
	struct world *w = *state;

	audit_to(w, w->path, 64 << 20);
	for (int i = 0; i < 20000; i++)
		add_audit_entry(w, AUDIT_CREATED, NULL, &w->link);
	close_audit(w);
	assert_int_equal(
		metric_value(metrics_counter(
			w->metrics, "shortloop_allocator_audit_lines_total",
			NULL, "")),
		20000);
}

static bool await_condition(bool (*check)(struct world *w), struct world *w)
{
	for (int i = 0; i < 500; i++) {
		if (check(w))
			return true;
		usleep(10000);
	}
	return false;
}

static bool has_new_file(struct world *w)
{
	struct stat st;

	return stat(w->path, &st) == 0;
}

static void a_file_moved_away_is_made_anew(void **state)
{
	struct world *w = *state;

	audit_to(w, w->path, 1 << 20);
	assert_int_equal(rename(w->path, w->moved), 0);
	audit_reopen(w->audit);
	assert_true(await_condition(has_new_file, w));
	add_audit_entry(w, AUDIT_CREATED, NULL, &w->link);
	close_audit(w);
	assert_int_equal(lines_of(w->path), 1);
	assert_int_equal(lines_of(w->moved), 0);
}

static bool is_down(struct world *w)
{
	struct buf out = {0};
	bool up = health_report(w->health, &out);
	bool told = !up && memmem(out.data, out.len, "No space left", 13);

	buf_free(&out);
	return told;
}

static void a_full_disk_is_told_by_readyz(void **state)
{
	struct world *w = *state;

	audit_to(w, "/dev/full", 1 << 20);
	add_audit_entry(w, AUDIT_CREATED, NULL, &w->link);
	assert_true(await_condition(is_down, w));
}

static uint64_t count_lost_lines(struct world *w)
{
	return metric_value(metrics_counter(
		w->metrics, "shortloop_allocator_audit_lost_total", NULL, ""));
}

static bool is_up(struct world *w)
{
	struct buf out = {0};
	bool up = health_report(w->health, &out);

	buf_free(&out);
	return up;
}

/* The file is first a link to /dev/full, then a real file. */
static void lines_wait_for_a_disk_that_is_full(void **state)
{
	struct world *w = *state;

	unlink(w->path);
	assert_int_equal(symlink("/dev/full", w->path), 0);
	audit_to(w, w->path, 1 << 20);
	add_audit_entry(w, AUDIT_CREATED, NULL, &w->link);
	add_audit_entry(w, AUDIT_CREATED, NULL, &w->link);
	assert_true(await_condition(is_down, w));
	unlink(w->path);
	audit_reopen(w->audit);
	assert_true(await_condition(is_up, w));
	close_audit(w);
	assert_int_equal(lines_of(w->path), 2);
	assert_int_equal(count_lost_lines(w), 0);
}

static void lines_beyond_the_bound_are_lost_counted_and_told(void **state)
{
	struct world *w = *state;
	json_t *line;
	size_t n;

	unlink(w->path);
	assert_int_equal(symlink("/dev/full", w->path), 0);
	audit_to(w, w->path, 4096);
	add_audit_entry(w, AUDIT_CREATED, NULL, &w->link);
	assert_true(await_condition(is_down, w));
	for (int i = 0; i < 100; i++)
		add_audit_entry(w, AUDIT_CREATED, NULL, &w->link);
	assert_true(count_lost_lines(w) > 50);
	unlink(w->path);
	audit_reopen(w->audit);
	assert_true(await_condition(is_up, w));
	close_audit(w);
	n = lines_of(w->path);
	assert_int_equal(n - 1 + count_lost_lines(w), 101);
	line = line_of(w->path, (int)n - 1);
	assert_string_equal(text_at(line, "action"), "lost");
	assert_int_equal(json_integer_value(json_object_get(line, "lines")),
			 count_lost_lines(w));
	json_decref(line);
}

static void a_file_that_cannot_be_opened_is_a_config_error(void **state)
{
	struct world *w = *state;
	const struct audit_options options = {
		.path = "/nonexistent/audit.log",
		.queue_bytes = 4096,
		.health = w->health,
		.metrics = w->metrics,
	};
	struct error err = {0};

	assert_null(audit_new(&options, &err));
	assert_int_equal(err.code, ERROR_CONFIG);
	assert_non_null(strstr(err.text, "allocator.audit_file"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_WORLD(it_writes_behind_what_is_there),
		WITH_WORLD(many_lines_all_arrive),
		WITH_WORLD(a_file_moved_away_is_made_anew),
		WITH_WORLD(a_full_disk_is_told_by_readyz),
		WITH_WORLD(lines_wait_for_a_disk_that_is_full),
		WITH_WORLD(lines_beyond_the_bound_are_lost_counted_and_told),
		WITH_WORLD(a_file_that_cannot_be_opened_is_a_config_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
