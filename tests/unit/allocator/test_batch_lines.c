/* Bytes to lines, and answers in order. */
#include "tests/unit/unit.h"

#include <string.h>

#include "allocator/batch/lines.h"
#include "allocator/batch/ring.h"

#define MAX 16

/* What is told of `text` when it comes in pieces of so many bytes: lines as
 * "number:text;", "number!;" for one that is too long. */
static char *told(const char *text, size_t piece)
{
	struct lines l = {.max = MAX};
	struct http_slice data, line;
	struct buf out = {0};
	enum lines_result result;
	size_t left = strlen(text);

	for (; left > 0; left -= data.len) {
		data = (struct http_slice){text, left < piece ? left : piece};
		text += data.len;
		left -= data.len;
		while ((result = lines_next(&l, &data, &line)) != LINES_MORE) {
			if (result == LINES_LINE)
				buf_printf(&out, "%d:%.*s;", (int)l.number,
					   (int)line.len, line.data);
			else
				buf_printf(&out, "%d!;", (int)l.number);
		}
		assert_int_equal(data.len, 0);
	}
	if (lines_last(&l, &line) == LINES_LINE)
		buf_printf(&out, "%d:%.*s;", (int)l.number, (int)line.len,
			   line.data);
	assert_int_equal(lines_last(&l, &line), LINES_MORE);
	assert_true(l.part.cap <= 8192);
	lines_free(&l);
	buf_cstr(&out);
	return out.data;
}

/* However it is cut up. */
static void expect(const char *text, const char *lines)
{
	char *got;

	for (size_t piece = 1; piece <= strlen(text) + 1; piece++) {
		got = told(text, piece);
		assert_string_equal(got, lines);
		free(got);
	}
}

static void lines_end_in_a_line_feed(void **state)
{
	(void)state;
	expect("a\nbc\nd\n", "1:a;2:bc;3:d;");
}

static void the_last_line_may_have_none(void **state)
{
	(void)state;
	expect("a\nbc", "1:a;2:bc;");
}

static void empty_lines_are_told(void **state)
{
	(void)state;
	expect("\n\na\n\n", "1:;2:;3:a;4:;");
}

static void nothing_is_no_line(void **state)
{
	(void)state;
	expect("", "");
}

static void a_carriage_return_is_left_to_the_caller(void **state)
{
	(void)state;
	expect("a\r\nb\r", "1:a\r;2:b\r;");
}

static void the_longest_line_is_told(void **state)
{
	(void)state;
	expect("0123456789abcdef\nx", "1:0123456789abcdef;2:x;");
}

static void a_longer_line_is_told_once_and_skipped(void **state)
{
	(void)state;
	expect("a\n0123456789abcdefX and more than that\nb\n", "1:a;2!;3:b;");
}

static void a_longer_line_may_be_the_last(void **state)
{
	(void)state;
	expect("a\n0123456789abcdefX and more", "1:a;2!;");
}

static void longer_lines_may_follow_each_other(void **state)
{
	(void)state;
	expect("0123456789abcdefX\n0123456789abcdefY\n\n", "1!;2!;3:;");
}

static void a_line_of_a_megabyte_is_not_held(void **state)
{
	struct lines l = {.max = 65536};
	char block[4096];
	struct http_slice data, line;
	int told_count = 0;

	(void)state;
	memset(block, 'x', sizeof(block));
	for (int i = 0; i < 256; i++) {
		data = (struct http_slice){block, sizeof(block)};
		told_count += lines_next(&l, &data, &line) == LINES_TOO_LONG;
		assert_int_equal(lines_next(&l, &data, &line), LINES_MORE);
		assert_true(l.part.cap <= 131072);
	}
	assert_int_equal(told_count, 1);
	assert_int_equal(l.part.cap, 0);
	lines_free(&l);
}

/* --- the ring ------------------------------------------------------------- */

static void answer(struct ring *r, uint64_t place, const char *text,
		   struct buf *out)
{
	buf_puts(ring_answer(r, place, out), text);
	ring_answered(r, place, out);
}

static void expect_out(struct buf *out, const char *text)
{
	assert_string_equal(buf_cstr(out), text);
}

static void answers_in_order_go_straight_out(void **state)
{
	struct error err;
	struct ring *r = ring_new(2, &err);
	struct buf out = {0};

	(void)state;
	for (int i = 0; i < 5; i++)
		answer(r, ring_ask(r, 10), "a", &out);
	expect_out(&out, "aaaaa");
	assert_int_equal(ring_count(r), 0);
	ring_free(r);
	buf_free(&out);
}

static void answers_wait_for_those_before_them(void **state)
{
	struct error err;
	struct ring *r = ring_new(3, &err);
	uint64_t one = ring_ask(r, 10), two = ring_ask(r, 10),
		 three = ring_ask(r, 10);
	struct buf out = {0};

	(void)state;
	assert_true(ring_is_full(r));
	answer(r, three, "3", &out);
	answer(r, two, "2", &out);
	expect_out(&out, "");
	answer(r, one, "1", &out);
	expect_out(&out, "123");
	assert_false(ring_is_full(r));
	ring_free(r);
	buf_free(&out);
}

/* An answer that waits holds about as much as its question did. */
static void a_question_counts_until_its_answer_is_out(void **state)
{
	struct error err;
	struct ring *r = ring_new(3, &err);
	uint64_t one = ring_ask(r, 100), two = ring_ask(r, 20);
	struct buf out = {0};

	(void)state;
	answer(r, two, "2", &out);
	assert_int_equal(ring_bytes(r), 120);
	assert_int_equal(ring_ask(r, 3), 2);
	answer(r, one, "1", &out);
	assert_int_equal(ring_bytes(r), 3);
	ring_free(r);
	buf_free(&out);
}

/* Whatever order they are found in. */
static void any_order_comes_out_in_order(void **state)
{
	enum {
		ROUNDS = 20000,
		CAPACITY = 7
	};
	struct error err;
	struct ring *r = ring_new(CAPACITY, &err);
	uint64_t open[CAPACITY], place;
	struct buf out = {0}, expected = {0};
	size_t opened = 0, at;
	unsigned seed = 4;
	int asked = 0;
	char text[16];

	(void)state;
	while (asked < ROUNDS || opened > 0) {
		seed = seed * 1103515245 + 12345;
		if (!ring_is_full(r) && asked < ROUNDS && (seed >> 16) % 2) {
			open[opened++] = ring_ask(r, 10);
			buf_printf(&expected, "%d,", asked++);
		} else if (opened > 0) {
			at = (seed >> 17) % opened;
			place = open[at];
			open[at] = open[--opened];
			snprintf(text, sizeof(text), "%d,", (int)place);
			answer(r, place, text, &out);
		}
	}
	assert_int_equal(out.len, expected.len);
	assert_memory_equal(out.data, expected.data, out.len);
	ring_free(r);
	buf_free(&out);
	buf_free(&expected);
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
		cmocka_unit_test(a_line_of_a_megabyte_is_not_held),
		cmocka_unit_test(answers_in_order_go_straight_out),
		cmocka_unit_test(answers_wait_for_those_before_them),
		cmocka_unit_test(a_question_counts_until_its_answer_is_out),
		cmocka_unit_test(any_order_comes_out_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
