#include "tests/unit/unit.h"

#include <string.h>

#include "allocator/batch/line_splitter.h"

#define MAX 16

/* Returns the lines of `text` when it comes in pieces of this size:
 * "number:text;" for a line, "number!;" for one that is too long. */
static char *split_text(const char *text, size_t piece)
{
	struct line_splitter l = {.max = MAX};
	struct http_slice data, line;
	struct buf out = {0};
	enum line_result result;
	size_t left = strlen(text);

	for (; left > 0; left -= data.len) {
		data = (struct http_slice){text, left < piece ? left : piece};
		text += data.len;
		left -= data.len;
		while ((result = line_splitter_next(&l, &data, &line)) !=
		       LINE_MORE) {
			if (result == LINE_COMPLETE)
				buf_printf(&out, "%d:%.*s;", (int)l.number,
					   (int)line.len, line.data);
			else
				buf_printf(&out, "%d!;", (int)l.number);
		}
		assert_int_equal(data.len, 0);
	}
	if (line_splitter_last(&l, &line) == LINE_COMPLETE)
		buf_printf(&out, "%d:%.*s;", (int)l.number, (int)line.len,
			   line.data);
	assert_int_equal(line_splitter_last(&l, &line), LINE_MORE);
	assert_true(l.part.cap <= 8192);
	line_splitter_free(&l);
	buf_cstr(&out);
	return out.data;
}

/* The result is the same for every size of pieces. */
static void expect_lines(const char *text, const char *lines)
{
	char *got;

	for (size_t piece = 1; piece <= strlen(text) + 1; piece++) {
		got = split_text(text, piece);
		assert_string_equal(got, lines);
		free(got);
	}
}

static void lines_end_in_a_line_feed(void **state)
{
	(void)state;
	expect_lines("a\nbc\nd\n", "1:a;2:bc;3:d;");
}

static void the_last_line_may_have_none(void **state)
{
	(void)state;
	expect_lines("a\nbc", "1:a;2:bc;");
}

static void empty_lines_are_told(void **state)
{
	(void)state;
	expect_lines("\n\na\n\n", "1:;2:;3:a;4:;");
}

static void nothing_is_no_line(void **state)
{
	(void)state;
	expect_lines("", "");
}

static void a_carriage_return_is_left_to_the_caller(void **state)
{
	(void)state;
	expect_lines("a\r\nb\r", "1:a\r;2:b\r;");
}

static void the_longest_line_is_told(void **state)
{
	(void)state;
	expect_lines("0123456789abcdef\nx", "1:0123456789abcdef;2:x;");
}

static void a_longer_line_is_told_once_and_skipped(void **state)
{
	(void)state;
	expect_lines("a\n0123456789abcdefX and more than that\nb\n",
		     "1:a;2!;3:b;");
}

static void a_longer_line_may_be_the_last(void **state)
{
	(void)state;
	expect_lines("a\n0123456789abcdefX and more", "1:a;2!;");
}

static void longer_lines_may_follow_each_other(void **state)
{
	(void)state;
	expect_lines("0123456789abcdefX\n0123456789abcdefY\n\n", "1!;2!;3:;");
}

static void the_rest_of_a_longer_line_can_be_skipped_alone(void **state)
{
	struct line_splitter l = {.max = MAX};
	struct http_slice data = {"0123456789abcdefX", 17}, line;

	(void)state;
	line_splitter_skip(&l, &data);
	assert_int_equal(data.len, 17);
	assert_int_equal(line_splitter_next(&l, &data, &line), LINE_TOO_LONG);
	data = (struct http_slice){"more", 4};
	line_splitter_skip(&l, &data);
	assert_int_equal(data.len, 0);
	data = (struct http_slice){"Y\nb\n", 4};
	line_splitter_skip(&l, &data);
	assert_int_equal(data.len, 2);
	assert_int_equal(line_splitter_next(&l, &data, &line), LINE_COMPLETE);
	assert_int_equal(l.number, 2);
	line_splitter_free(&l);
}

static void a_line_of_a_megabyte_is_not_held(void **state)
{
	struct line_splitter l = {.max = 65536};
	char block[4096];
	struct http_slice data, line;
	int told_count = 0;

	(void)state;
	memset(block, 'x', sizeof(block));
	for (int i = 0; i < 256; i++) {
		data = (struct http_slice){block, sizeof(block)};
		told_count +=
			line_splitter_next(&l, &data, &line) == LINE_TOO_LONG;
		assert_int_equal(line_splitter_next(&l, &data, &line),
				 LINE_MORE);
		assert_true(l.part.cap <= 131072);
	}
	assert_int_equal(told_count, 1);
	assert_int_equal(l.part.cap, 0);
	line_splitter_free(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_end_in_a_line_feed),
		cmocka_unit_test(the_last_line_may_have_none),
		cmocka_unit_test(empty_lines_are_told),
		cmocka_unit_test(nothing_is_no_line),
		cmocka_unit_test(a_carriage_return_is_left_to_the_caller),
		cmocka_unit_test(the_longest_line_is_told),
		cmocka_unit_test(a_longer_line_is_told_once_and_skipped),
		cmocka_unit_test(a_longer_line_may_be_the_last),
		cmocka_unit_test(longer_lines_may_follow_each_other),
		cmocka_unit_test(
			the_rest_of_a_longer_line_can_be_skipped_alone),
		cmocka_unit_test(a_line_of_a_megabyte_is_not_held),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
