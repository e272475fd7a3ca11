/* A place in an answer as text, for every kind of answer. */
#include "tests/unit/unit.h"

#include <string.h>

#include "aggregator/api/cursor.h"

#define TEXT_MAX 1200

static const char *format_cursor(const char *question, const char *place,
				 size_t len, char text[TEXT_MAX])
{
	struct buf of = {0}, out = {0};

	buf_puts(&of, question);
	cursor_put(&out, &of, (const unsigned char *)place, len);
	assert_non_null(buf_cstr(&out));
	assert_true(out.len < TEXT_MAX);
	memcpy(text, out.data, out.len + 1);
	buf_free(&of);
	buf_free(&out);
	return text;
}

static int parse_cursor(const char *text, const char *question,
			unsigned char place[CURSOR_PLACE_MAX], size_t *len)
{
	struct error err = {0};
	struct buf of = {0};
	int status;

	buf_puts(&of, question);
	status = cursor_parse(text, &of, place, len, &err);
	buf_free(&of);
	assert_int_equal(err.code, status ? ERROR_INPUT : ERROR_NONE);
	return status;
}

static void numbers_come_back(void **state)
{
	static const unsigned char expected[] = {
		0x01, 0xFE, 0x02, 0x03, 0x80, 0, 0, 0, 0, 0, 0, 0xFF};
	unsigned char bytes[16], *end = bytes;
	const unsigned char *at = bytes;

	(void)state;
	end = cursor_put_number(end, 1, 1);
	end = cursor_put_number(end, 0xFE0203, 3);
	end = cursor_put_number(end, UINT64_C(0x80000000000000FF), 8);
	assert_int_equal(end - bytes, 12);
	assert_memory_equal(bytes, expected, 12);
	assert_true(cursor_take_number(&at, 1) == 1);
	assert_true(cursor_take_number(&at, 3) == 0xFE0203);
	assert_true(cursor_take_number(&at, 8) == UINT64_C(0x80000000000000FF));
	assert_ptr_equal(at, end);
}

static void a_place_of_any_size_comes_back(void **state)
{
	static const size_t sizes[] = {1, 21, CURSOR_PLACE_MAX};
	unsigned char found[CURSOR_PLACE_MAX];
	char place[CURSOR_PLACE_MAX], text[TEXT_MAX];
	size_t len = 0;

	(void)state;
	memset(place, 0xA7, sizeof(place));
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		format_cursor("q", place, sizes[i], text);
		assert_int_equal(strlen(text), 2 * (8 + sizes[i]));
		assert_int_equal(parse_cursor(text, "q", found, &len), 0);
		assert_int_equal(len, sizes[i]);
		assert_memory_equal(found, place, len);
	}
}

static void what_is_no_cursor_is_refused(void **state)
{
	unsigned char found[CURSOR_PLACE_MAX];
	char text[2 * TEXT_MAX], cursor[TEXT_MAX];
	size_t len;

	(void)state;
	format_cursor("q", "", 0, text);
	assert_int_equal(parse_cursor(text, "q", found, &len), -1);
	assert_int_equal(parse_cursor("", "q", found, &len), -1);
	format_cursor("q", "place", 5, cursor);
	snprintf(text, sizeof(text), "%s0", cursor);
	assert_int_equal(parse_cursor(text, "q", found, &len), -1);
	snprintf(text, sizeof(text), "%sg0", cursor);
	assert_int_equal(parse_cursor(text, "q", found, &len), -1);
	snprintf(text, sizeof(text), "%s0g", cursor);
	assert_int_equal(parse_cursor(text, "q", found, &len), -1);
	/* These places are longer than any real one, by one byte and by many.
	 */
	memset(text, '0', sizeof(text));
	text[2 * (8 + CURSOR_PLACE_MAX + 1)] = '\0';
	assert_int_equal(parse_cursor(text, "q", found, &len), -1);
	memset(text, '0', sizeof(text));
	text[sizeof(text) - 2] = '\0';
	assert_int_equal(parse_cursor(text, "q", found, &len), -1);
}

/* The digest includes where the question ends and the place begins. */
static void a_cursor_is_of_one_question(void **state)
{
	unsigned char found[CURSOR_PLACE_MAX];
	char text[TEXT_MAX], other[TEXT_MAX];
	size_t len;

	(void)state;
	format_cursor("owner=ann", "place", 5, text);
	assert_int_equal(parse_cursor(text, "owner=ann", found, &len), 0);
	assert_int_equal(parse_cursor(text, "owner=bob", found, &len), -1);
	assert_int_equal(parse_cursor(text, "", found, &len), -1);
	format_cursor("owner=annp", "lace", 4, other);
	assert_true(memcmp(text, other, 16) != 0);
	/* A question that begins with the digits of another's length has
	 * another digest, too. */
	format_cursor("1a", "aaaaaaaaaa", 10, text);
	format_cursor("aaaaaaaaaaaa", "", 0, other);
	assert_true(memcmp(text, other, 16) != 0);
}

static void a_question_that_failed_has_no_cursor(void **state)
{
	unsigned char found[CURSOR_PLACE_MAX];
	struct buf failed = {.failed = true}, out = {0};
	char text[TEXT_MAX];
	struct error err = {0};
	size_t len;

	(void)state;
	cursor_put(&out, &failed, (const unsigned char *)"p", 1);
	assert_null(buf_cstr(&out));
	format_cursor("", "p", 1, text);
	assert_int_equal(cursor_parse(text, &failed, found, &len, &err), -1);
	assert_int_equal(err.code, ERROR_NOMEM);
	buf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_come_back),
		cmocka_unit_test(a_place_of_any_size_comes_back),
		cmocka_unit_test(what_is_no_cursor_is_refused),
		cmocka_unit_test(a_cursor_is_of_one_question),
		cmocka_unit_test(a_question_that_failed_has_no_cursor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
