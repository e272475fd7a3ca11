#include "common/clickhouse/columns.h"

#include <stdlib.h>
#include <string.h>

#include "common/clickhouse/dictionary.h"
#include "common/clickhouse/rowbinary.h"

enum column_kind {
	COLUMN_FIXED,
	COLUMN_STRING,
	COLUMN_WORD,  /* LowCardinality(String) */
	COLUMN_WORDS, /* Array(LowCardinality(String)) */
	COLUMN_MAP,   /* Map(LowCardinality(String), String) */
};

struct native_column {
	char *name;
	char *type;
	enum column_kind kind;
	size_t width; /* for COLUMN_FIXED */
	/* For the first COLUMN_WORD of a run, the run's length; the texts of a
	 * run are looked up as one, since they mostly repeat together. */
	size_t run;
	bool ends_run;
	struct dictionary words; /* words of the run, or of elements and keys */
	struct buf numbers;	 /* uint32_t for each run, element or key */
	struct buf ends;	 /* uint64_t for each row's array or map */
	struct buf data;	 /* values in the format that is sent */
};

struct columns {
	struct native_column *items;
	size_t count;
	struct buf names;
	struct hash_key key;
	/* Scratch memory for one column of a run. */
	struct dictionary words;
	struct buf cursors; /* const char * into each distinct run */
	struct buf numbers; /* uint32_t: the column's word in each */
};

/* --- column types ----------------------------------------------------- */

static const struct {
	const char
		*type; /* a type that ends in '(' is matched by its beginning */
	enum column_kind kind;
	size_t width;
} types[] = {
	{"Bool", COLUMN_FIXED, 1},
	{"Int8", COLUMN_FIXED, 1},
	{"UInt8", COLUMN_FIXED, 1},
	{"UInt16", COLUMN_FIXED, 2},
	{"UInt32", COLUMN_FIXED, 4},
	{"Float32", COLUMN_FIXED, 4},
	{"Int64", COLUMN_FIXED, 8},
	{"UInt64", COLUMN_FIXED, 8},
	{"Float64", COLUMN_FIXED, 8},
	{"DateTime64(", COLUMN_FIXED, 8},
	{"UUID", COLUMN_FIXED, 16},
	{"IPv6", COLUMN_FIXED, 16},
	{"FixedString(", COLUMN_FIXED, 0},
	{"String", COLUMN_STRING, 0},
	{"LowCardinality(String)", COLUMN_WORD, 0},
	{"Array(LowCardinality(String))", COLUMN_WORDS, 0},
	{"Map(LowCardinality(String), String)", COLUMN_MAP, 0},
};

static bool is_type(const char *type, const char *known)
{
	size_t len = strlen(known);

	return known[len - 1] == '(' ? !strncmp(type, known, len)
				     : !strcmp(type, known);
}

static int set_type(struct native_column *column, struct error *err)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		if (!is_type(column->type, types[i].type))
			continue;
		column->kind = types[i].kind;
		column->width = types[i].width;
		if (!strncmp(column->type, "FixedString(", 12))
			column->width = strtoul(column->type + 12, NULL, 10);
		if (column->kind != COLUMN_FIXED || column->width)
			return 0;
	}
	return error_set(err, ERROR_CONFIG, "column %s: no such type: %s",
			 column->name, column->type);
}

/* Returns the length up to the separator outside of parentheses. */
static size_t item_length(const char *text)
{
	int depth = 0;
	size_t len = 0;

	for (; text[len] && (depth > 0 || !strchr(",;", text[len])); len++)
		depth += (text[len] == '(') - (text[len] == ')');
	return len;
}

static int add_column(struct columns *c, const char *text, size_t len,
		      struct error *err)
{
	const char *space = memchr(text, ' ', len);
	size_t name_len = space ? (size_t)(space - text) : len;
	struct native_column *column, *items;

	if (!space)
		return error_set(err, ERROR_CONFIG, "column %.*s has no type",
				 (int)len, text);
	items = realloc(c->items, (c->count + 1) * sizeof(*items));
	if (!items)
		return error_set_nomem(err);
	c->items = items;
	column = &items[c->count++];
	*column = (struct native_column){
		.name = strndup(text, name_len),
		.type = strndup(space + 1, len - name_len - 1),
	};
	if (!column->name || !column->type)
		return error_set_nomem(err);
	if (c->count > 1)
		buf_puts(&c->names, ", ");
	buf_puts(&c->names, column->name);
	return set_type(column, err);
}

static void find_runs(struct columns *c)
{
	for (size_t i = c->count; i-- > 0;) {
		struct native_column *column = &c->items[i];

		if (column->kind != COLUMN_WORD)
			continue;
		column->run = 1;
		if (i + 1 < c->count && !column->ends_run)
			column->run += column[1].run;
	}
}

static int parse_columns(struct columns *c, const char *description,
			 struct error *err)
{
	for (const char *at = description; *at;) {
		size_t len = item_length(at);

		if (add_column(c, at, len, err) < 0)
			return -1;
		at += len;
		c->items[c->count - 1].ends_run = *at == ';';
		at += strspn(at, ",; ");
	}
	find_runs(c);
	return buf_cstr(&c->names) ? 0 : error_set_nomem(err);
}

struct row_reader {
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
	    parse_columns(c, description, err) == 0)
		return c;
	columns_free(c);
	return NULL;
}

static void free_column_buffers(struct native_column *column)
{
	dictionary_release(&column->words);
	buf_free(&column->numbers);
	buf_free(&column->ends);
	buf_free(&column->data);
}

void columns_forget(struct columns *c)
{
	for (size_t i = 0; i < c->count; i++)
		free_column_buffers(&c->items[i]);
	dictionary_release(&c->words);
	buf_free(&c->cursors);
	buf_free(&c->numbers);
}

static void release_column(struct native_column *column)
{
	free(column->name);
	free(column->type);
	free_column_buffers(column);
}

void columns_free(struct columns *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->count; i++)
		release_column(&c->items[i]);
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

static void reset_all_columns(struct columns *c)
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

static inline bool skip_string(struct row_reader *r)
{
	uint64_t len;

	/* Most strings are short. */
	if (r->at < r->end && (unsigned char)*r->at < 0x80 &&
	    r->end - r->at > *r->at) {
		r->at += 1 + *r->at;
		return true;
	}
	if (!rowbinary_read_count(&r->at, r->end, &len) ||
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

/* The compiler knows the width, so copying is one or two stores. */
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

static bool read_fixed(struct native_column *column, struct row_reader *r)
{
	if ((size_t)(r->end - r->at) < column->width)
		return false;
	put_fixed(&column->data, r->at, column->width);
	r->at += column->width;
	return true;
}

static bool read_string(struct native_column *column, struct row_reader *r)
{
	const char *start = r->at;

	if (!skip_string(r))
		return false;
	buf_append(&column->data, start, (size_t)(r->at - start));
	return true;
}

/* A run of texts, lengths included, is one word. */
static bool read_run(struct columns *c, struct native_column *first,
		     struct row_reader *r)
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

static bool read_elements(struct columns *c, struct native_column *column,
			  struct row_reader *r)
{
	uint64_t count, end;

	if (!rowbinary_read_count(&r->at, r->end, &count))
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

static bool read_row(struct columns *c, struct row_reader *r)
{
	for (size_t i = 0; i < c->count; i++) {
		struct native_column *column = &c->items[i];
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

/* --- writing a block -------------------------------------------------------
 */

/* SerializationLowCardinality.cpp: SharedDictionariesWithAdditionalKeys, then
 * for each part of a column HasAdditionalKeysBit and NeedUpdateDictionary. */
#define KEYS_VERSION 1
#define PART_FLAGS   0x600

/* Returns the code of the narrowest sufficient width, as the format defines
 * it. */
static unsigned width_code(uint32_t count)
{
	if (count <= 0x100)
		return 0;
	return count <= 0x10000 ? 1 : 2;
}

static void write_number(char *to, uint32_t number, unsigned code)
{
	to[0] = (char)(unsigned char)number;
	if (code > 0)
		to[1] = (char)(unsigned char)(number >> 8);
	if (code > 1) {
		to[2] = (char)(unsigned char)(number >> 16);
		to[3] = (char)(unsigned char)(number >> 24);
	}
}

/* Maps the numbers through `map`, unless that is NULL. */
static void write_numbers(struct buf *out, const uint32_t *numbers,
			  size_t count, const uint32_t *map, unsigned code)
{
	char *to = buf_reserve(out, count << code);

	if (!to)
		return;
	for (size_t i = 0; i < count; i++)
		write_number(to + (i << code),
			     map ? map[numbers[i]] : numbers[i], code);
	out->len += count << code;
}

/* Words are sent with their lengths before them. */
static void write_words(struct buf *out, const struct dictionary *words,
			const struct buf *numbers, const struct buf *map)
{
	size_t count = numbers->len / sizeof(uint32_t);
	unsigned code = width_code(words->count);

	if (count == 0)
		return;
	rowbinary_u64(out, PART_FLAGS | code);
	rowbinary_u64(out, words->count);
	for (uint32_t i = 0; i < words->count; i++)
		buf_append(out, words->words[i].data, words->words[i].len);
	rowbinary_u64(out, count);
	write_numbers(out, (const uint32_t *)(const void *)numbers->data, count,
		      map ? (const uint32_t *)(const void *)map->data : NULL,
		      code);
}

static bool start_run(struct columns *c, const struct native_column *first)
{
	buf_reset(&c->cursors);
	for (uint32_t i = 0; i < first->words.count; i++)
		buf_append(&c->cursors, &first->words.words[i].data,
			   sizeof(char *));
	return !c->cursors.failed;
}

/* The next text of each distinct run belongs to this column. */
static bool number_words(struct columns *c, const struct native_column *first)
{
	const char **cursors = (const char **)(void *)c->cursors.data;

	dictionary_reset(&c->words);
	buf_reset(&c->numbers);
	for (uint32_t i = 0; i < first->words.count; i++) {
		const struct dictionary_word *run = &first->words.words[i];
		const char *start = cursors[i];
		uint64_t len = 0;
		uint32_t number;

		rowbinary_read_count(&cursors[i], run->data + run->len, &len);
		cursors[i] += len;
		number = dictionary_number(&c->words, &c->key, start,
					   (size_t)(cursors[i] - start));
		if (number == DICTIONARY_FULL)
			return false;
		buf_append(&c->numbers, &number, sizeof(number));
	}
	return !c->numbers.failed;
}

static bool write_run(struct columns *c, const struct native_column *first,
		      const struct native_column *column, struct buf *out)
{
	if (column == first && !start_run(c, first))
		return false;
	if (!number_words(c, first))
		return false;
	write_words(out, &c->words, &first->numbers, &c->numbers);
	return true;
}

static void write_head(const struct native_column *column, struct buf *out)
{
	rowbinary_string(out, column->name, strlen(column->name));
	rowbinary_string(out, column->type, strlen(column->type));
	if (column->kind != COLUMN_FIXED && column->kind != COLUMN_STRING)
		rowbinary_u64(out, KEYS_VERSION);
}

static bool has_failed(const struct native_column *column)
{
	return column->data.failed || column->numbers.failed ||
	       column->ends.failed;
}

static int write_block(struct columns *c, uint64_t rows, struct buf *out)
{
	const struct native_column *first = NULL;

	rowbinary_count(out, c->count);
	rowbinary_count(out, rows);
	for (size_t i = 0; i < c->count; i++) {
		const struct native_column *column = &c->items[i];

		if (has_failed(column))
			return -1;
		write_head(column, out);
		if (column->kind == COLUMN_WORD) {
			if (!first || column >= first + first->run)
				first = column;
			if (!write_run(c, first, column, out))
				return -1;
			continue;
		}
		buf_append(out, column->ends.data, column->ends.len);
		write_words(out, &column->words, &column->numbers, NULL);
		buf_append(out, column->data.data, column->data.len);
	}
	return out->failed ? -1 : 0;
}

/* --- a block of rows -------------------------------------------------------
 */

int columns_encode(struct columns *c, const void *rows, size_t len,
		   struct buf *out, struct error *err)
{
	struct row_reader r = {rows, len ? (const char *)rows + len : rows};
	size_t start = out->len;
	uint64_t count = 0;

	reset_all_columns(c);
	for (; r.at < r.end; count++)
		if (!read_row(c, &r))
			return error_set(err, ERROR_INPUT,
					 "row %llu does not fit its columns",
					 (unsigned long long)count + 1);
	if (write_block(c, count, out) == 0)
		return 0;
	out->len = start;
	out->failed = false;
	return error_set_nomem(err);
}
