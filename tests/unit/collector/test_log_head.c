#include "tests/unit/unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "collector/tools/import/log_head.h"
#include "collector/tools/import/log_source.h"
#include "collector/tools/line_reader.h"

static struct log_head head_of(const char *text)
{
	struct log_head head = {0};
	struct log_source *source;
	struct error err = {0};
	char path[64];

	unit_write_file(text, path);
	source = log_source_open(path, &err);
	assert_non_null(source);
	assert_int_equal(log_head_read(&head, source, &err), 0);
	log_source_close(source);
	unlink(path);
	return head;
}

static bool heads_fit(const char *a, const char *b)
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
	assert_true(heads_fit("a\nb\nc\n", "a\nb\nc\n"));
	assert_true(heads_fit("a\nb\nc\n", "a\n"));
	assert_true(heads_fit("a\nb\nc\n", "a\nb\nhalf a l"));
}

static void logs_that_differ_anywhere_are_not(void **state)
{
	(void)state;
	assert_false(heads_fit("a\nb\nc\n", "a\nb\nx\n"));
	assert_false(heads_fit("a\nb\nc\n", "x\nb\nc\n"));
	assert_false(heads_fit("a\nb\n", "ab\n"));
	assert_false(heads_fit("a\n", "\na\n"));
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

/* Returns the next line, or NULL. */
static const char *next_line(struct line_reader *r, char text[32])
{
	struct error err = {0};
	struct line line;

	while (!line_reader_next(r, &line))
		if (line_reader_fill(r, &err) <= 0)
			return NULL;
	snprintf(text, 32, "%.*s", (int)line.len, line.text);
	return text;
}

/* Reads the head of the file, removes the file, and must still find its lines.
 */
static void check_lines_after_head(const char *path)
{
	struct log_head head = {0};
	struct error err = {0};
	struct log_source *source = log_source_open(path, &err);
	struct line_reader *lines;
	char text[32];

	assert_non_null(source);
	assert_int_equal(log_head_read(&head, source, &err), 0);
	assert_int_equal(head.count, 2);
	unlink(path);
	lines = line_reader_new(1024, log_source_read, source, &err);
	assert_string_equal(next_line(lines, text), "first");
	assert_string_equal(next_line(lines, text), "second");
	assert_null(next_line(lines, text));
	line_reader_free(lines);
	log_source_close(source);
	log_head_release(&head);
}

static void lines_come_from_the_file_that_the_head_was_of(void **state)
{
	char path[64];

	(void)state;
	check_lines_after_head(unit_write_file("first\nsecond\n", path));
}

static void it_goes_back_in_a_packed_file_that_is_broken(void **state)
{
	/* A gzip member with an invalid type of block. */
	static const char broken[] = "\x1f\x8b\x08\0\0\0\0\0\0\x03\xff\xff";
	static char line[256 * 1024]; /* more than one read returns */
	char path[64];
	gzFile packed = gzopen(unit_write_file("", path), "wb");
	FILE *more;

	(void)state;
	memset(line, 'x', sizeof(line));
	assert_int_equal(gzputs(packed, "first\nsecond\n"), 13);
	assert_int_equal(gzwrite(packed, line, sizeof(line)), sizeof(line));
	assert_int_equal(gzclose(packed), Z_OK);
	more = fopen(path, "ab");
	assert_non_null(more);
	assert_int_equal(fwrite(broken, sizeof(broken), 1, more), 1);
	fclose(more);
	check_lines_after_head(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_log_and_its_beginning_are_the_same),
		cmocka_unit_test(logs_that_differ_anywhere_are_not),
		cmocka_unit_test(a_log_without_a_whole_line_is_none_yet),
		cmocka_unit_test(what_comes_later_does_not_count),
		cmocka_unit_test(a_first_line_without_end_makes_no_head),
		cmocka_unit_test(lines_come_from_the_file_that_the_head_was_of),
		cmocka_unit_test(it_goes_back_in_a_packed_file_that_is_broken),
	};

	return cmocka_run_group_tests_name("log_head", tests, NULL, NULL);
}
