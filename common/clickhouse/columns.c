#include "common/clickhouse/columns.h"

#include <stdlib.h>
#include <string.h>

#include "common/clickhouse/columns_internal.h"

struct reader {
	const char *at;
	const char *end;
};

struct columns *columns_new(const char *description, struct error *err)
{
	struct columns *c = calloc(1, sizeof(*c));

	if (!c) {
		error_set_nomem(err);
		return NULL;
	}
	if (hash_key_make(&c->key, err) == 0 &&
	    columns_parse(c, description, err) == 0)
		return c;
	columns_free(c);
	return NULL;
}

static void forget(struct column *column)
{
	dictionary_release(&column->words);
	buf_free(&column->numbers);
	buf_free(&column->ends);
	buf_free(&column->data);
}

void columns_forget(struct columns *c)
{
	for (size_t i = 0; i < c->count; i++)
		forget(&c->items[i]);
	dictionary_release(&c->words);
	buf_free(&c->cursors);
	buf_free(&c->numbers);
}

static void release(struct column *column)
{
	free(column->name);
	free(column->type);
	forget(column);
}

void columns_free(struct columns *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->count; i++)
		release(&c->items[i]);
	free(c->items);
	buf_free(&c->names);
	dictionary_release(&c->words);
	buf_free(&c->cursors);
	buf_free(&c->numbers);
	free(c);
}

const char *columns_names(const struct columns *c)
{
	return c->names.data;
}

static void reset(struct columns *c)
{
	for (size_t i = 0; i < c->count; i++) {
		dictionary_reset(&c->items[i].words);
		buf_reset(&c->items[i].numbers);
		buf_reset(&c->items[i].ends);
		buf_reset(&c->items[i].data);
	}
}

/* --- reading rows ----------------------------------------------------------
 */

bool columns_read_count(const char **at, const char *end, uint64_t *ret_count)
{
	uint64_t count = 0;

	for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
		unsigned char byte = (unsigned char)*(*at)++;

		count |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*ret_count = count;
			return true;
		}
	}
	return false;
}

static inline bool skip_string(struct reader *r)
{
	uint64_t len;

	/* Most of them are short. */
	if (r->at < r->end && (unsigned char)*r->at < 0x80 &&
	    r->end - r->at > *r->at) {
		r->at += 1 + *r->at;
		return true;
	}
	if (!columns_read_count(&r->at, r->end, &len) ||
	    len > (uint64_t)(r->end - r->at))
		return false;
	r->at += len;
	return true;
}

static void put_number(struct buf *out, uint32_t number)
{
	if (number == DICTIONARY_FULL)
		out->failed = true;
	buf_append(out, &number, sizeof(number));
}

/* With a width that the compiler knows, copying is one or two stores. */
static void put_fixed(struct buf *out, const char *from, size_t width)
{
	switch (width) {
	case 1:
		buf_append(out, from, 1);
		break;
	case 2:
		buf_append(out, from, 2);
		break;
	case 4:
		buf_append(out, from, 4);
		break;
	case 8:
		buf_append(out, from, 8);
		break;
	case 16:
		buf_append(out, from, 16);
		break;
	default:
		buf_append(out, from, width);
	}
}

static bool read_fixed(struct column *column, struct reader *r)
{
	if ((size_t)(r->end - r->at) < column->width)
		return false;
	put_fixed(&column->data, r->at, column->width);
	r->at += column->width;
	return true;
}

static bool read_string(struct column *column, struct reader *r)
{
	const char *start = r->at;

	if (!skip_string(r))
		return false;
	buf_append(&column->data, start, (size_t)(r->at - start));
	return true;
}

/* A run of texts, lengths and all, is one word. */
static bool read_run(struct columns *c, struct column *first, struct reader *r)
{
	const char *start = r->at;

	for (size_t i = 0; i < first->run; i++)
		if (!skip_string(r))
			return false;
	put_number(&first->numbers,
		   dictionary_number(&first->words, &c->key, start,
				     (size_t)(r->at - start)));
	return true;
}

static bool read_elements(struct columns *c, struct column *column,
			  struct reader *r)
{
	uint64_t count, end;

	if (!columns_read_count(&r->at, r->end, &count))
		return false;
	for (; count > 0; count--) {
		const char *start = r->at;

		if (!skip_string(r))
			return false;
		put_number(&column->numbers,
			   dictionary_number(&column->words, &c->key, start,
					     (size_t)(r->at - start)));
		if (column->kind == COLUMN_MAP && !read_string(column, r))
			return false;
	}
	end = column->numbers.len / sizeof(uint32_t);
	buf_append(&column->ends, &end, sizeof(end));
	return true;
}

static bool read_row(struct columns *c, struct reader *r)
{
	for (size_t i = 0; i < c->count; i++) {
		struct column *column = &c->items[i];
		bool fits = false;

		switch (column->kind) {
		case COLUMN_FIXED:
			fits = read_fixed(column, r);
			break;
		case COLUMN_STRING:
			fits = read_string(column, r);
			break;
		case COLUMN_WORD:
			fits = read_run(c, column, r);
			i += column->run - 1;
			break;
		case COLUMN_WORDS:
		case COLUMN_MAP:
			fits = read_elements(c, column, r);
			break;
		}
		if (!fits)
			return false;
	}
	return true;
}

int columns_encode(struct columns *c, const void *rows, size_t len,
		   struct buf *out, struct error *err)
{
	struct reader r = {rows, len ? (const char *)rows + len : rows};
	size_t start = out->len;
	uint64_t count = 0;

	reset(c);
	for (; r.at < r.end; count++)
		if (!read_row(c, &r))
			return error_set(err, ERROR_INPUT,
					 "row %llu does not fit its columns",
					 (unsigned long long)count + 1);
	if (columns_write(c, count, out) == 0)
		return 0;
	out->len = start;
	out->failed = false;
	return error_set_nomem(err);
}
