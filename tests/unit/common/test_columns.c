#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/clickhouse/columns.h"
#include "common/clickhouse/rowbinary.h"

#define WORD "LowCardinality(String)"

static void put_text(struct buf *b, const char *text)
{
	rowbinary_string(b, text, strlen(text));
}

static struct columns *columns_of(const char *description)
{
	struct error err = {0};
	struct columns *c = columns_new(description, &err);

	if (!c)
		fail_msg("%s", err.text);
	return c;
}

static void assert_encodes(const char *description, struct buf *rows,
			   const char *expected, size_t len)
{
	struct columns *c = columns_of(description);
	struct buf out = {0};
	struct error err = {0};

	assert_int_equal(0,
			 columns_encode(c, rows->data, rows->len, &out, &err));
	assert_int_equal(out.len, len);
	assert_memory_equal(out.data, expected, len);
	buf_free(&out);
	buf_free(rows);
	columns_free(c);
}

static void numbers_and_texts_go_column_by_column(void **state)
{
	static const char expected[] = "\2\2"
				       "\1n\6UInt16\1\0\2\0"
				       "\1s\6String\1a\0";
	struct buf rows = {0};

	(void)state;
	rowbinary_u16(&rows, 1);
	put_text(&rows, "a");
	rowbinary_u16(&rows, 2);
	put_text(&rows, "");
	assert_encodes("n UInt16, s String", &rows, expected,
		       sizeof(expected) - 1);
}

/* Two neighbouring columns have a dictionary each, though both are looked up
 * together. */
static void words_that_repeat_are_sent_once(void **state)
{
	static const char expected[] = "\2\3"
				       "\1a\26" WORD "\1\0\0\0\0\0\0\0"
				       "\0\6\0\0\0\0\0\0\2\0\0\0\0\0\0\0\1x\1y"
				       "\3\0\0\0\0\0\0\0\0\1\0"
				       "\1b\26" WORD "\1\0\0\0\0\0\0\0"
				       "\0\6\0\0\0\0\0\0\2\0\0\0\0\0\0\0\1p\1q"
				       "\3\0\0\0\0\0\0\0\0\0\1";
	struct buf rows = {0};

	(void)state;
	put_text(&rows, "x");
	put_text(&rows, "p");
	put_text(&rows, "y");
	put_text(&rows, "p");
	put_text(&rows, "x");
	put_text(&rows, "q");
	assert_encodes("a " WORD ", b " WORD, &rows, expected,
		       sizeof(expected) - 1);
}

static void an_array_says_where_each_row_ends(void **state)
{
	static const char expected[] =
		"\1\3"
		"\1t\35Array(" WORD ")\1\0\0\0\0\0\0\0"
		"\2\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0"
		"\0\6\0\0\0\0\0\0\2\0\0\0\0\0\0\0\1x\1y"
		"\3\0\0\0\0\0\0\0\0\1\0";
	struct buf rows = {0};

	(void)state;
	rowbinary_count(&rows, 2);
	put_text(&rows, "x");
	put_text(&rows, "y");
	rowbinary_count(&rows, 0);
	rowbinary_count(&rows, 1);
	put_text(&rows, "x");
	assert_encodes("t Array(" WORD ")", &rows, expected,
		       sizeof(expected) - 1);
}

static void a_map_is_keys_and_values(void **state)
{
	static const char expected[] =
		"\1\2"
		"\1m\43Map(" WORD ", String)\1\0\0\0\0\0\0\0"
		"\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0"
		"\0\6\0\0\0\0\0\0\1\0\0\0\0\0\0\0\1k"
		"\2\0\0\0\0\0\0\0\0\0"
		"\1v\1w";
	struct buf rows = {0};

	(void)state;
	rowbinary_count(&rows, 1);
	put_text(&rows, "k");
	put_text(&rows, "v");
	rowbinary_count(&rows, 1);
	put_text(&rows, "k");
	put_text(&rows, "w");
	assert_encodes("m Map(" WORD ", String)", &rows, expected,
		       sizeof(expected) - 1);
}

static void empty_arrays_need_no_dictionary(void **state)
{
	static const char expected[] = "\1\1"
				       "\1t\35Array(" WORD ")\1\0\0\0\0\0\0\0"
				       "\0\0\0\0\0\0\0\0";
	struct buf rows = {0};

	(void)state;
	rowbinary_count(&rows, 0);
	assert_encodes("t Array(" WORD ")", &rows, expected,
		       sizeof(expected) - 1);
}

/* 300 words take two bytes each; the second block does not depend on the first.
 */
static void many_words_have_wider_numbers(void **state)
{
	struct columns *c = columns_of("w " WORD);
	struct buf rows = {0}, first = {0}, again = {0};
	struct error err = {0};
	char word[8];

	(void)state;
	for (int i = 0; i < 300; i++) {
		snprintf(word, sizeof(word), "%d", i);
		put_text(&rows, word);
	}
	assert_int_equal(0,
			 columns_encode(c, rows.data, rows.len, &first, &err));
	assert_int_equal((unsigned char)first.data[3 + 2 + 23 + 8], 1);
	assert_memory_equal(first.data + first.len - 4, "\x2a\1\x2b\1", 4);
	assert_int_equal(0,
			 columns_encode(c, rows.data, rows.len, &again, &err));
	assert_int_equal(first.len, again.len);
	assert_memory_equal(first.data, again.data, first.len);
	buf_free(&rows);
	buf_free(&first);
	buf_free(&again);
	columns_free(c);
}

static void rows_cut_anywhere_are_refused(void **state)
{
	struct columns *c = columns_of("n UInt16, w " WORD ", s String, t "
				       "Array(" WORD ")");
	struct buf row = {0}, out = {0};

	(void)state;
	rowbinary_u16(&row, 7);
	put_text(&row, "word");
	put_text(&row, "text");
	rowbinary_count(&row, 1);
	put_text(&row, "tag");
	for (size_t len = 1; len < row.len; len++) {
		struct error err = {0};
		char *cut = malloc(len);

		memcpy(cut, row.data, len);
		assert_int_equal(-1, columns_encode(c, cut, len, &out, &err));
		assert_int_equal(err.code, ERROR_INPUT);
		assert_int_equal(out.len, 0);
		free(cut);
	}
	buf_free(&row);
	buf_free(&out);
	columns_free(c);
}

static void a_type_that_is_not_known_is_named(void **state)
{
	struct error err = {0};

	(void)state;
	assert_null(columns_new("a UInt8, b Tuple(UInt8, UInt8)", &err));
	assert_non_null(strstr(err.text, "column b"));
	assert_null(columns_new("a UInt8, b", &err));
	assert_non_null(strstr(err.text, "column b"));
}

static void names_are_those_of_an_insert(void **state)
{
	struct columns *c = columns_of("a DateTime64(3, 'UTC'), b " WORD
				       "; c FixedString(20)");

	(void)state;
	assert_string_equal(columns_names(c), "a, b, c");
	columns_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_and_texts_go_column_by_column),
		cmocka_unit_test(words_that_repeat_are_sent_once),
		cmocka_unit_test(an_array_says_where_each_row_ends),
		cmocka_unit_test(a_map_is_keys_and_values),
		cmocka_unit_test(empty_arrays_need_no_dictionary),
		cmocka_unit_test(many_words_have_wider_numbers),
		cmocka_unit_test(rows_cut_anywhere_are_refused),
		cmocka_unit_test(a_type_that_is_not_known_is_named),
		cmocka_unit_test(names_are_those_of_an_insert),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
