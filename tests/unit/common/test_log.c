#include "tests/unit/unit.h"

#include <string.h>

#include "common/buf.h"
#include "common/log.h"

/* Checks the part of one line after its time stamp. */
static void check_line(enum log_format format, const char *expected)
{
	struct error err = {0};
	char text[512] = "";
	int pipe_fds[2];
	struct log *log;

	assert_int_equal(pipe(pipe_fds), 0);
	log = log_new("unit", pipe_fds[1], LOG_INFO, format, &err);
	log_debug(log, "not shown");
	log_warn(log, "it \"happened\"", log_str("path", "/a b\n"),
		 log_int("count", -4), log_str("plain", "x-1"));
	assert_true(read(pipe_fds[0], text, sizeof(text) - 1) > 0);
	assert_non_null(strstr(text, expected));
	log_free(log);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
}

static void logfmt_quotes_only_what_needs_it(void **state)
{
	(void)state;
	check_line(LOG_LOGFMT,
		   "Z level=warn program=unit msg=\"it \\\"happened\\\"\" "
		   "path=\"/a b\\n\" count=-4 plain=x-1\n");
}

static void json_is_one_object_a_line(void **state)
{
	(void)state;
	check_line(LOG_JSON,
		   "Z\",\"level\":\"warn\",\"program\":\"unit\","
		   "\"msg\":\"it \\\"happened\\\"\",\"path\":\"/a b\\n\","
		   "\"count\":-4,\"plain\":\"x-1\"}\n");
}

static void a_missing_logger_drops_lines(void **state)
{
	(void)state;
	log_info(NULL, "nobody hears this");
}

static void a_buffer_grows_and_gives_up_for_good(void **state)
{
	struct buf b = {0};

	(void)state;
	for (int i = 0; i < 1000; i++)
		buf_printf(&b, "%d,", i);
	assert_int_equal(b.len, 3890);
	assert_memory_equal(b.data, "0,1,2,3,", 8);
	buf_consume(&b, 2);
	assert_memory_equal(b.data, "1,2,3,", 6);
	assert_null(buf_reserve(&b, SIZE_MAX / 2));
	buf_putc(&b, 'x');
	assert_true(b.failed);
	assert_int_equal(b.len, 3888);
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(logfmt_quotes_only_what_needs_it),
		cmocka_unit_test(json_is_one_object_a_line),
		cmocka_unit_test(a_missing_logger_drops_lines),
		cmocka_unit_test(a_buffer_grows_and_gives_up_for_good),
	};

	return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
