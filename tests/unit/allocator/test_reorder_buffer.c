#include "tests/unit/unit.h"

#include "allocator/batch/reorder_buffer.h"

static void put_answer(struct reorder_buffer *r, uint64_t position,
		       const char *text, struct buf *out)
{
	buf_puts(reorder_buffer_answer(r, position, out), text);
	reorder_buffer_release(r, position, out);
}

static void expect_out(struct buf *out, const char *text)
{
	assert_string_equal(buf_cstr(out), text);
}

static void answers_in_order_go_straight_out(void **state)
{
	struct error err;
	struct reorder_buffer *r = reorder_buffer_new(2, &err);
	struct buf out = {0};

	(void)state;
	for (int i = 0; i < 5; i++)
		put_answer(r, reorder_buffer_reserve(r, 10), "a", &out);
	expect_out(&out, "aaaaa");
	assert_int_equal(reorder_buffer_count(r), 0);
	reorder_buffer_free(r);
	buf_free(&out);
}

static void answers_wait_for_those_before_them(void **state)
{
	struct error err;
	struct reorder_buffer *r = reorder_buffer_new(3, &err);
	uint64_t one = reorder_buffer_reserve(r, 10),
		 two = reorder_buffer_reserve(r, 10),
		 three = reorder_buffer_reserve(r, 10);
	struct buf out = {0};

	(void)state;
	assert_true(reorder_buffer_is_full(r));
	put_answer(r, three, "3", &out);
	put_answer(r, two, "2", &out);
	expect_out(&out, "");
	put_answer(r, one, "1", &out);
	expect_out(&out, "123");
	assert_false(reorder_buffer_is_full(r));
	reorder_buffer_free(r);
	buf_free(&out);
}

/* An answer that waits needs about as much memory as its request. */
static void a_question_counts_until_its_answer_is_out(void **state)
{
	struct error err;
	struct reorder_buffer *r = reorder_buffer_new(3, &err);
	uint64_t one = reorder_buffer_reserve(r, 100),
		 two = reorder_buffer_reserve(r, 20);
	struct buf out = {0};

	(void)state;
	put_answer(r, two, "2", &out);
	assert_int_equal(reorder_buffer_bytes(r), 120);
	assert_int_equal(reorder_buffer_reserve(r, 3), 2);
	put_answer(r, one, "1", &out);
	assert_int_equal(reorder_buffer_bytes(r), 3);
	reorder_buffer_free(r);
	buf_free(&out);
}

/* The order in which the answers are ready does not matter. */
static void any_order_comes_out_in_order(void **state)
{
	enum {
		ROUNDS = 20000,
		CAPACITY = 7
	};
	struct error err;
	struct reorder_buffer *r = reorder_buffer_new(CAPACITY, &err);
	uint64_t open[CAPACITY], position;
	struct buf out = {0}, expected = {0};
	size_t opened = 0, at;
	unsigned seed = 4;
	int asked = 0;
	char text[16];

	(void)state;
	while (asked < ROUNDS || opened > 0) {
		seed = seed * 1103515245 + 12345;
		if (!reorder_buffer_is_full(r) && asked < ROUNDS &&
		    (seed >> 16) % 2) {
			open[opened++] = reorder_buffer_reserve(r, 10);
			buf_printf(&expected, "%d,", asked++);
		} else if (opened > 0) {
			at = (seed >> 17) % opened;
			position = open[at];
			open[at] = open[--opened];
			snprintf(text, sizeof(text), "%d,", (int)position);
			put_answer(r, position, text, &out);
		}
	}
	assert_int_equal(out.len, expected.len);
	assert_memory_equal(out.data, expected.data, out.len);
	reorder_buffer_free(r);
	buf_free(&out);
	buf_free(&expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_in_order_go_straight_out),
		cmocka_unit_test(answers_wait_for_those_before_them),
		cmocka_unit_test(a_question_counts_until_its_answer_is_out),
		cmocka_unit_test(any_order_comes_out_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
