#include "tests/unit/unit.h"

#include <inttypes.h>
#include <string.h>

#include "collector/tools/line_reader.h"

struct text {
	const char *data;
	size_t piece; /* bytes at a time */
};

static ssize_t read_text(void *arg, void *to, size_t len, struct error *err)
{
	struct text *t = arg;
	size_t n = strnlen(t->data, t->piece);

	(void)err;
	assert_true(n <= len);
	memcpy(to, t->data, n);
	t->data += n;
	return (ssize_t)n;
}

/* Reads all lines as "offset:text|"; "!" marks a line that was cut, "?" one
 * without an end. */
static void read_all(const char *text, size_t piece, size_t line_max,
		     char result[256])
{
	struct text t = {text, piece};
	struct error err = {0};
	struct line_reader *r = line_reader_new(line_max, read_text, &t, &err);
	struct line line;
	size_t at = 0;
	int more;

	assert_non_null(r);
	*result = '\0';
	do {
		more = line_reader_fill(r, &err);
		while (line_reader_next(r, &line))
			at += (size_t)snprintf(result + at, 256 - at,
					       "%" PRIu64 ":%.*s%s%s|",
					       line.offset, (int)line.len,
					       line.text, line.cut ? "!" : "",
					       line.unfinished ? "?" : "");
	} while (more > 0);
	assert_int_equal(more, 0);
	line_reader_free(r);
}

static void lines_come_whole_whatever_the_pieces(void **state)
{
	char result[256];

	(void)state;
	for (size_t piece = 1; piece < 20; piece++) {
		read_all("ab\n\ncdefg\nh\n", piece, 100, result);
		assert_string_equal(result, "0:ab|3:|4:cdefg|10:h|");
	}
}

static void the_last_line_may_lack_its_end(void **state)
{
	char result[256];

	(void)state;
	read_all("a\nbc", 3, 100, result);
	assert_string_equal(result, "0:a|2:bc?|");
	read_all("", 3, 100, result);
	assert_string_equal(result, "");
}

static void a_long_line_is_cut_and_the_next_one_is_whole(void **state)
{
	char result[256];

	(void)state;
	for (size_t piece = 1; piece < 20; piece++) {
		read_all("0123456789\nab\n0123\nwxyzuv", piece, 4, result);
		assert_string_equal(result, "0:0123!|11:ab|14:0123|19:wxyz!?|");
	}
}

/* A line of more than 4 GiB of zeros between two other lines. */
#define FAR (UINT64_C(1) << 32)
struct far {
	uint64_t at;
};

static ssize_t read_far(void *arg, void *to, size_t len, struct error *err)
{
	struct far *f = arg;
	size_t n = len;

	(void)err;
	if (f->at == 0) {
		n = 2;
		memcpy(to, "a\n", n);
	} else if (f->at < FAR) {
		memset(to, 'x', n);
	} else if (f->at < 2 * FAR) {
		n = 4;
		memcpy(to, "\nb\nc", n);
		f->at += FAR;
	} else {
		n = 0;
	}
	f->at += n;
	return (ssize_t)n;
}

static void a_line_beyond_4_gib_lies_where_it_lies(void **state)
{
	struct far f = {0};
	struct error err = {0};
	struct line_reader *r = line_reader_new(4, read_far, &f, &err);
	uint64_t offsets[5] = {0}, end;
	struct line line;
	size_t count = 0;

	(void)state;
	do
		while (line_reader_next(r, &line) && count < 5)
			offsets[count++] = line.offset;
	while (line_reader_fill(r, &err) > 0);
	while (line_reader_next(r, &line) && count < 5)
		offsets[count++] = line.offset;
	end = f.at - FAR;
	assert_true(end > FAR);
	assert_int_equal(count, 4);
	assert_true(offsets[1] == 2 && offsets[2] == end - 3 &&
		    offsets[3] == end - 1);
	line_reader_free(r);
}

static ssize_t fail_source_read(void *arg, void *to, size_t len,
				struct error *err)
{
	(void)arg;
	(void)to;
	(void)len;
	return error_set(err, ERROR_INPUT, "broken");
}

static void a_source_that_fails_is_told_of(void **state)
{
	struct error err = {0};
	struct line_reader *r =
		line_reader_new(10, fail_source_read, NULL, &err);
	struct line line;

	(void)state;
	assert_int_equal(line_reader_fill(r, &err), -1);
	assert_string_equal(err.text, "broken");
	assert_false(line_reader_next(r, &line));
	line_reader_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_come_whole_whatever_the_pieces),
		cmocka_unit_test(the_last_line_may_lack_its_end),
		cmocka_unit_test(a_long_line_is_cut_and_the_next_one_is_whole),
		cmocka_unit_test(a_line_beyond_4_gib_lies_where_it_lies),
		cmocka_unit_test(a_source_that_fails_is_told_of),
	};

	return cmocka_run_group_tests_name("line_reader", tests, NULL, NULL);
}
