#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/line_file.h"
#include "tests/unit/unit.h"

struct world {
	char path[64];
	struct metrics *metrics;
	struct metric *written, *lost, *failures;
	struct line_file *file;
};

/* The file's thread tells it; nobody here asks. */
static void on_state(void *arg, const struct error *err)
{
	(void)arg;
	(void)err;
}

static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	unit_write_file("", w->path);
	w->metrics = metrics_new();
	w->written = metrics_counter(w->metrics, "written", NULL, "");
	w->lost = metrics_counter(w->metrics, "lost", NULL, "");
	w->failures = metrics_counter(w->metrics, "failures", NULL, "");
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	line_file_free(w->file, 1000);
	metrics_free(w->metrics);
	unlink(w->path);
	free(w);
	return 0;
}

static void open_it(struct world *w, int64_t queue_bytes)
{
	const struct line_file_options options = {
		.path = w->path,
		.name = "test file",
		.queue_bytes = queue_bytes,
		.written = w->written,
		.lost = w->lost,
		.failures = w->failures,
		.on_state = on_state,
	};
	struct error err = {0};

	w->file = line_file_new(&options, &err);
	if (!w->file)
		fail_msg("%s", err.text);
}

static void put(struct world *w, const char *lines)
{
	struct buf b = {0};

	buf_puts(&b, lines);
	line_file_put(w->file, &b);
	buf_free(&b);
}

static uint64_t finish(struct world *w)
{
	uint64_t left = line_file_free(w->file, CLOCK_MINUTE);

	w->file = NULL;
	return left;
}

static void lines_come_in_the_order_they_were_put(void **state)
{
	struct world *w = *state;
	char text[64] = "";
	FILE *in;

	open_it(w, 4096);
	put(w, "a\nb\n");
	put(w, "c\n");
	assert_int_equal(finish(w), 0);
	in = fopen(w->path, "r");
	assert_int_equal(fread(text, 1, sizeof(text) - 1, in), 6);
	fclose(in);
	assert_string_equal(text, "a\nb\nc\n");
	assert_int_equal(metric_value(w->written), 3);
}

static void each_line_without_room_is_counted(void **state)
{
	struct world *w = *state;

	open_it(w, 4);
	put(w, "a\nb\nc\n");
	assert_int_equal(metric_value(w->lost), 3);
	put(w, "d\n");
	/* They were told as lost already, by the counter. */
	finish(w);
	assert_int_equal(metric_value(w->written), 1);
	assert_int_equal(metric_value(w->lost), 3);
}

static void lines_that_could_not_be_made_are_lost(void **state)
{
	struct world *w = *state;
	struct buf failed = {.failed = true};

	open_it(w, 4096);
	line_file_put(w->file, &failed);
	assert_int_equal(metric_value(w->lost), 1);
}

static void what_no_disk_takes_is_left_at_the_end(void **state)
{
	struct world *w = *state;

	unlink(w->path);
	assert_int_equal(symlink("/dev/full", w->path), 0);
	open_it(w, 4096);
	put(w, "a\nb\n");
	assert_int_equal(line_file_free(w->file, 1), 2);
	w->file = NULL;
	assert_true(metric_value(w->failures) >= 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			lines_come_in_the_order_they_were_put, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(
			each_line_without_room_is_counted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			lines_that_could_not_be_made_are_lost, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(
			what_no_disk_takes_is_left_at_the_end, set_up,
			tear_down),
	};

	return cmocka_run_group_tests_name("line_file", tests, NULL, NULL);
}
