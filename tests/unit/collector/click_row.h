/*
 * click_row.h - makes a row of clicks, and reads a row of clicks or links in
 * the format in which it is sent (RowBinary), by the names and types of its
 * columns.
 */
#ifndef TESTS_UNIT_COLLECTOR_CLICK_ROW_H
#define TESTS_UNIT_COLLECTOR_CLICK_ROW_H

#include "tests/unit/unit.h"

#include <stdbool.h>
#include <string.h>

#include "collector/enrich/enricher.h"
#include "collector/enrich/row.h"
#include "common/buf.h"

/* Returns the end of the name and type of the column that begins at `at`. */
static inline const char *click_column_end(const char *at)
{
	int depth = 0;

	for (; *at && (depth || (*at != ',' && *at != ';')); at++)
		depth += (*at == '(') - (*at == ')');
	return at;
}

static inline uint64_t click_number(const unsigned char **at, size_t bytes)
{
	uint64_t n = 0;

	for (size_t i = 0; i < bytes; i++)
		n |= (uint64_t) * (*at)++ << 8 * i;
	return n;
}

/* Texts of these rows are shorter than 16 KiB. */
static inline void click_text(const unsigned char **at, struct buf *out)
{
	size_t len = *(*at)++;

	if (len > 127)
		len = (len & 127) | (size_t) * (*at)++ << 7;
	buf_append(out, *at, len);
	*at += len;
}

static inline void click_texts(const unsigned char **at, size_t count,
			       struct buf *out)
{
	for (size_t i = 0; i < count; i++) {
		buf_puts(out, i ? "," : "");
		click_text(at, out);
	}
}

static inline void click_hex(const unsigned char **at, size_t bytes,
			     struct buf *out)
{
	for (size_t i = 0; i < bytes; i++)
		buf_printf(out, "%02x", *(*at)++);
}

/* Returns the size of a number of this type in bytes; 0: no number. */
static inline size_t click_number_size(const char *type)
{
	static const struct {
		const char *name;
		size_t bytes;
	} numbers[] = {{"UInt32", 4}, {"UInt64", 8}, {"DateTime64", 8},
		       {"Int8", 1},   {"UInt16", 2}, {"Bool", 1}};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (!strncmp(type, numbers[i].name, strlen(numbers[i].name)))
			return numbers[i].bytes;
	return 0;
}

static inline void click_value(const unsigned char **at, const char *type,
			       struct buf *out)
{
	size_t bytes = click_number_size(type);

	if (bytes)
		buf_printf(out, "%llu",
			   (unsigned long long)click_number(at, bytes));
	else if (!strncmp(type, "UUID", 4) || !strncmp(type, "IPv6", 4))
		click_hex(at, 16, out);
	else if (!strncmp(type, "FixedString(20)", 15))
		click_hex(at, 20, out);
	else if (!strncmp(type, "FixedString(16)", 15))
		click_hex(at, 16, out);
	else if (!strncmp(type, "Array(FixedString(16))", 22))
		click_hex(at, 16 * (size_t) * (*at)++, out);
	else if (!strncmp(type, "Float32", 7))
		click_hex(at, 4, out);
	else if (!strncmp(type, "Array", 5))
		click_texts(at, *(*at)++, out);
	else if (!strncmp(type, "Map", 3))
		click_texts(at, 2 * (size_t) * (*at)++, out);
	else
		click_text(at, out);
}

/* Returns the value of a column of the first row as text, valid until the next
 * call.  `columns` are "name type, name type".  Addresses and hashes are
 * hexadecimal digits. */
static inline const char *row_column(const struct buf *rows,
				     const char *columns, const char *name)
{
	const unsigned char *at = (const unsigned char *)rows->data;
	static char text[1024];

	for (const char *c = columns; *c; c += strspn(c, ",; ")) {
		struct buf value = {0};
		size_t len = strcspn(c, " ");
		bool is_it = len == strlen(name) && !memcmp(c, name, len);

		click_value(&at, c + len + 1, &value);
		if (is_it)
			snprintf(text, sizeof(text), "%s",
				 buf_cstr(&value) ? value.data : "");
		buf_free(&value);
		if (is_it)
			return text;
		c = click_column_end(c);
	}
	fail_msg("there is no column %s", name);
	return NULL;
}

static inline const char *click_column(const struct buf *rows, const char *name)
{
	return row_column(rows, row_click_columns, name);
}

/* Fills `rows` with this click's row only.  Returns the row's time, in ms. */
static inline int64_t click_make_row(struct enricher *e,
				     const Shortloop__Click *click,
				     int64_t append_ms, struct buf *rows)
{
	const struct event_origin origin = {.topic = "clicks",
					    .append_ms = append_ms};
	struct error err = {0};
	int64_t ts;

	buf_reset(rows);
	assert_int_equal(enricher_click_row(e, &origin, click, rows, &ts, &err),
			 0);
	return ts;
}

#endif
