#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
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

/* The file's thread reports the state; the test does not query it. */
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

static void put_lines(struct world *w, const char *lines)
{
	struct buf b = {0};

	buf_puts(&b, lines);
	line_file_put(w->file, &b);
	buf_free(&b);
}

static uint64_t close_file(struct world *w)
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
	put_lines(w, "a\nb\n");
	put_lines(w, "c\n");
	assert_int_equal(close_file(w), 0);
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
	put_lines(w, "a\nb\nc\n");
	assert_int_equal(metric_value(w->lost), 3);
	put_lines(w, "d\n");
	/* The counter has already reported them as lost. */
	close_file(w);
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
	put_lines(w, "a\nb\n");
	assert_int_equal(line_file_free(w->file, 1), 2);
	w->file = NULL;
	assert_true(metric_value(w->failures) >= 1);
}

/* --- pipes -----------------------------------------------------------------
 */

static void be_a_pipe(struct world *w)
{
	unlink(w->path);
	assert_int_equal(mkfifo(w->path, 0600), 0);
}

static void make_line(char line[1024])
{
	memset(line, 'a', 1024);
	line[1022] = '\n';
	line[1023] = '\0';
}

static void a_pipe_without_a_reader_is_one_clear_error(void **state)
{
	struct world *w = *state;
	const struct line_file_options options = {.path = w->path,
						  .name = "test file",
						  .queue_bytes = 4096,
						  .on_state = on_state};
	struct error err = {0};

	be_a_pipe(w);
	assert_null(line_file_new(&options, &err));
	assert_int_equal(err.code, ERROR_CONFIG);
	assert_non_null(strstr(err.text, "No such device or address"));
}

static void a_pipe_that_is_full_does_not_hold_up_the_end(void **state)
{
	struct world *w = *state;
	char line[1024];
	uint64_t left;
	int reader;

	be_a_pipe(w);
	reader = open(w->path, O_RDONLY | O_NONBLOCK);
	make_line(line);
	open_it(w, 1 << 20);
	/* No pipe has room for all of them. */
	for (int i = 0; i < 1000; i++)
		put_lines(w, line);
	left = line_file_free(w->file, 1);
	w->file = NULL;
	assert_in_range(left, 1, 999);
	assert_int_equal(metric_value(w->written), 1000 - left);
	close(reader);
}

/* A slow reader gets every line. */
static void a_slow_reader_gets_all(void **state)
{
	struct world *w = *state;
	char line[1024], taken[4096];
	size_t bytes = 0;
	ssize_t n;
	int reader;

	be_a_pipe(w);
	reader = open(w->path, O_RDONLY | O_NONBLOCK);
	make_line(line);
	open_it(w, 1 << 20);
	for (int i = 0; i < 1000; i++)
		put_lines(w, line);
	while (bytes < 1000 * (sizeof(line) - 1)) {
		n = read(reader, taken, sizeof(taken));
		if (n > 0)
			bytes += (size_t)n;
		else
			assert_true(n < 0 && errno == EAGAIN);
	}
	assert_int_equal(close_file(w), 0);
	assert_int_equal(metric_value(w->written), 1000);
	close(reader);
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
		cmocka_unit_test_setup_teardown(
			a_pipe_without_a_reader_is_one_clear_error, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(
			a_pipe_that_is_full_does_not_hold_up_the_end, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(a_slow_reader_gets_all, set_up,
						tear_down),
	};

	return cmocka_run_group_tests_name("line_file", tests, NULL, NULL);
}
