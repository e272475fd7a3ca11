#include "tests/unit/unit.h"

#include <stdbool.h>
#include <string.h>

#include "collector/tools/import/log_head.h"

static struct log_head head_of(const char *text)
{
	struct log_head head = {0};
	struct error err = {0};
	char path[64];

	unit_write_file(text, path);
	assert_int_equal(log_head_read(&head, path, &err), 0);
	unlink(path);
	return head;
}

static bool fit(const char *a, const char *b)
{
	struct log_head x = head_of(a), y = head_of(b);
	bool fits = log_head_fits(&x, y.numbers, y.count);

	assert_int_equal(fits, log_head_fits(&y, x.numbers, x.count));
	log_head_release(&x);
	log_head_release(&y);
	return fits;
}

static void a_log_and_its_beginning_are_the_same(void **state)
{
	(void)state;
	assert_true(fit("a\nb\nc\n", "a\nb\nc\n"));
	assert_true(fit("a\nb\nc\n", "a\n"));
	assert_true(fit("a\nb\nc\n", "a\nb\nhalf a l"));
}

static void logs_that_differ_anywhere_are_not(void **state)
{
	(void)state;
	assert_false(fit("a\nb\nc\n", "a\nb\nx\n"));
	assert_false(fit("a\nb\nc\n", "x\nb\nc\n"));
	assert_false(fit("a\nb\n", "ab\n"));
	assert_false(fit("a\n", "\na\n"));
}

static void a_log_without_a_whole_line_is_none_yet(void **state)
{
	struct log_head head = head_of("half a l");

	(void)state;
	assert_int_equal(head.count, 0);
	assert_true(head.seen_all);
	log_head_release(&head);
}

static void what_comes_later_does_not_count(void **state)
{
	size_t size = 2 * LOG_HEAD_BYTES;
	char *text = malloc(size + 1);
	struct log_head a, b;

	(void)state;
	for (size_t i = 0; i < size; i++)
		text[i] = i % 50 == 49 ? '\n' : 'x';
	text[size] = '\0';
	a = head_of(text);
	text[LOG_HEAD_BYTES + 10] = 'y';
	b = head_of(text);
	assert_int_equal(a.count, LOG_HEAD_BYTES / 50);
	assert_false(a.seen_all);
	assert_string_equal(a.name, b.name);
	text[10] = 'y';
	log_head_release(&b);
	b = head_of(text);
	assert_string_not_equal(a.name, b.name);
	log_head_release(&a);
	log_head_release(&b);
	free(text);
}

static void a_first_line_without_end_makes_no_head(void **state)
{
	size_t size = 2 * LOG_HEAD_BYTES;
	char *text = malloc(size + 1);
	struct log_head head;

	(void)state;
	memset(text, 'x', size);
	text[size - 1] = '\n';
	text[size] = '\0';
	head = head_of(text);
	assert_int_equal(head.count, 0);
	assert_false(head.seen_all);
	log_head_release(&head);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_log_and_its_beginning_are_the_same),
		cmocka_unit_test(logs_that_differ_anywhere_are_not),
		cmocka_unit_test(a_log_without_a_whole_line_is_none_yet),
		cmocka_unit_test(what_comes_later_does_not_count),
		cmocka_unit_test(a_first_line_without_end_makes_no_head),
	};

	return cmocka_run_group_tests_name("log_head", tests, NULL, NULL);
}
