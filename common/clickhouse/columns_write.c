/* columns_write.c - a block of Native from what columns.c has gathered. */
#include "common/clickhouse/columns_internal.h"
#include "common/clickhouse/rowbinary.h"

/* SerializationLowCardinality.cpp: SharedDictionariesWithAdditionalKeys, then
 * with each part of a column HasAdditionalKeysBit and NeedUpdateDictionary. */
#define KEYS_VERSION 1
#define PART_FLAGS   0x600

/* The narrowest that will do; the code is that of the format. */
static unsigned width_code(uint32_t count)
{
	if (count <= 0x100)
		return 0;
	return count <= 0x10000 ? 1 : 2;
}

static void put_number(char *to, uint32_t number, unsigned code)
{
	to[0] = (char)(unsigned char)number;
	if (code > 0)
		to[1] = (char)(unsigned char)(number >> 8);
	if (code > 1) {
		to[2] = (char)(unsigned char)(number >> 16);
		to[3] = (char)(unsigned char)(number >> 24);
	}
}

/* By way of `map`, unless that is NULL. */
static void put_numbers(struct buf *out, const uint32_t *numbers, size_t count,
			const uint32_t *map, unsigned code)
{
	char *to = buf_reserve(out, count << code);

	if (!to)
		return;
	for (size_t i = 0; i < count; i++)
		put_number(to + (i << code), map ? map[numbers[i]] : numbers[i],
			   code);
	out->len += count << code;
}

/* Words have their lengths in front, as they are sent. */
static void put_words(struct buf *out, const struct dictionary *words,
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
	put_numbers(out, (const uint32_t *)(const void *)numbers->data, count,
		    map ? (const uint32_t *)(const void *)map->data : NULL,
		    code);
}

static bool start_run(struct columns *c, const struct column *first)
{
	buf_reset(&c->cursors);
	for (uint32_t i = 0; i < first->words.count; i++)
		buf_append(&c->cursors, &first->words.words[i].data,
			   sizeof(char *));
	return !c->cursors.failed;
}

/* The next text of each distinct run is this column's. */
static bool number_words(struct columns *c, const struct column *first)
{
	const char **cursors = (const char **)(void *)c->cursors.data;

	dictionary_reset(&c->words);
	buf_reset(&c->numbers);
	for (uint32_t i = 0; i < first->words.count; i++) {
		const struct dictionary_word *run = &first->words.words[i];
		const char *start = cursors[i];
		uint64_t len = 0;
		uint32_t number;

		columns_read_count(&cursors[i], run->data + run->len, &len);
		cursors[i] += len;
		number = dictionary_number(&c->words, &c->key, start,
					   (size_t)(cursors[i] - start));
		if (number == DICTIONARY_FULL)
			return false;
		buf_append(&c->numbers, &number, sizeof(number));
	}
	return !c->numbers.failed;
}

static bool put_run(struct columns *c, const struct column *first,
		    const struct column *column, struct buf *out)
{
	if (column == first && !start_run(c, first))
		return false;
	if (!number_words(c, first))
		return false;
	put_words(out, &c->words, &first->numbers, &c->numbers);
	return true;
}

static void put_head(const struct column *column, struct buf *out)
{
	rowbinary_string(out, column->name, strlen(column->name));
	rowbinary_string(out, column->type, strlen(column->type));
	if (column->kind != COLUMN_FIXED && column->kind != COLUMN_STRING)
		rowbinary_u64(out, KEYS_VERSION);
}

static bool has_failed(const struct column *column)
{
	return column->data.failed || column->numbers.failed ||
	       column->ends.failed;
}

int columns_write(struct columns *c, uint64_t rows, struct buf *out)
{
	const struct column *first = NULL;

	rowbinary_count(out, c->count);
	rowbinary_count(out, rows);
	for (size_t i = 0; i < c->count; i++) {
		const struct column *column = &c->items[i];

		if (has_failed(column))
			return -1;
		put_head(column, out);
		if (column->kind == COLUMN_WORD) {
			if (!first || column >= first + first->run)
				first = column;
			if (!put_run(c, first, column, out))
				return -1;
			continue;
		}
		buf_append(out, column->ends.data, column->ends.len);
		put_words(out, &column->words, &column->numbers, NULL);
		buf_append(out, column->data.data, column->data.len);
	}
	return out->failed ? -1 : 0;
}
