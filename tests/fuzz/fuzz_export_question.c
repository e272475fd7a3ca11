/* Any bytes as the query string of an export, and as its cursor: an accepted
 * cursor leads to a row that the export can have, and is written as it was
 * read. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "aggregator/api/export/export_question.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_cursor(const struct export_question *q,
			 const struct export_cursor *c)
{
	assert(c->range.from_ms >= 0);
	assert(c->range.from_ms <= c->after.ts_ms);
	assert(c->after.ts_ms < c->range.to_ms);
	assert(c->range.append_before_ms >= 0);
	assert(q->from_ms < 0 || c->range.from_ms == q->from_ms);
	assert(q->to_ms < 0 || c->range.to_ms <= q->to_ms);
	assert(!c->range.link_id || c->range.link_id == c->after.link_id);
	assert(strlen(c->after.topic) <= EXPORT_TOPIC_MAX);
}

static void try_cursor(const struct export_question *q, const char *text)
{
	struct export_cursor cursor;
	struct error err = {0};
	struct buf again = {0};

	if (export_cursor_parse(q, text, &cursor, &err) < 0) {
		assert(err.code == ERROR_INPUT && err.text[0]);
		return;
	}
	check_cursor(q, &cursor);
	export_cursor_put(&again, q, &cursor);
	assert(!strcasecmp(buf_cstr(&again), text));
	buf_free(&again);
}

/* Tries a row of any bytes with a correct digest. */
static void try_place(const struct export_question *q, const uint8_t *data,
		      size_t size)
{
	struct export_cursor cursor = {.range = {0, INT64_C(1) << 41, 1, 0}};
	struct buf text = {0};
	size_t topic;

	if (size < 32)
		return;
	memcpy(&cursor.after.ts_ms, data, 8);
	memcpy(&cursor.after.link_id, data + 8, 8);
	memcpy(&cursor.after.offset, data + 16, 8);
	memcpy(&cursor.after.partition, data + 24, 4);
	memcpy(&cursor.after.epoch, data + 28, 4);
	topic = size - 32 < EXPORT_TOPIC_MAX ? size - 32 : EXPORT_TOPIC_MAX;
	memcpy(cursor.after.topic, data + 32, topic);
	export_cursor_put(&text, q, &cursor);
	try_cursor(q, buf_cstr(&text));
	buf_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct export_question q;
	struct error err = {0};
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	if (export_question_parse(&q, (struct http_slice){text, size}, false,
				  &err) == 0) {
		assert(q.limit <= EXPORT_LIMIT_MAX);
		if (q.has_cursor)
			check_cursor(&q, &q.cursor);
	} else {
		assert(err.code == ERROR_INPUT && err.text[0]);
	}
	export_question_parse(&q, (struct http_slice){NULL, 0}, false, &err);
	try_cursor(&q, text);
	try_place(&q, data, size);
	free(text);
	return 0;
}
