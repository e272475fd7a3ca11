/*
 * Logs written by strangers.  The input is a format, a newline, and lines: any
 * format and any line is either read or refused with a reason, and the values
 * read are within bounds.  A line in Apache's format is read back unchanged.  A
 * reader returns lines unchanged, whatever pieces they come in.
 */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/tools/access_log/access_format.h"
#include "collector/tools/import/visit_click.h"
#include "collector/tools/line_reader.h"
#include "common/arena.h"
#include "common/buf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct access_rules rules;

/* Touches every byte, so that the sanitizer checks its place. */
static void touch_text(struct access_text t, size_t max)
{
	volatile char sum = 0;

	assert(t.len <= max);
	for (size_t i = 0; i < t.len; i++)
		sum = (char)(sum ^ t.data[i]);
}

static void check_visit(const struct access_visit *v, size_t len)
{
	static const struct visit_rules rules = {.path_prefix = "/a",
						 .edge = "edge"};
	struct arena arena = {0};
	Shortloop__Click click;

	assert(v->time_ms > 0 && v->time_ms <= INT64_C(7258118400000));
	assert(v->ip_len == 0 || v->ip_len == 4 || v->ip_len == 16);
	assert(v->status <= 999);
	touch_text(v->method, len);
	touch_text(v->path, len);
	touch_text(v->query, len);
	touch_text(v->referrer, len);
	touch_text(v->user_agent, len);
	touch_text(v->language, len);
	touch_text(v->host, len);
	touch_text(v->purpose, len);
	if (visit_click(v, &rules, 7, &arena, &click) == VISIT_CLICK)
		assert(strlen(click.code) <= 64);
	arena_free(&arena);
}

static void read_lines(struct access_format *f, const char *text, size_t len)
{
	while (len > 0) {
		const char *end = memchr(text, '\n', len);
		size_t n = end ? (size_t)(end - text) : len;
		char *line = malloc(
			n +
			1); /* exact size: a read beyond the end is noticed */
		struct error err = {0};
		struct access_visit v;

		memcpy(line, text, n);
		line = realloc(line, n ? n : 1);
		if (access_format_read(f, line, n, &v, &err) == 0)
			check_visit(&v, 2 * n + 40);
		else
			assert(*err.text);
		free(line);
		n += end ? 1 : 0;
		text += n;
		len -= n;
	}
}

static void any_format(const char *text, size_t len)
{
	const char *newline = memchr(text, '\n', len);
	size_t n = newline ? (size_t)(newline - text) : len;
	char *format = strndup(text, n);
	struct error err = {0};
	struct access_format *f = access_format_new(format, NULL, &rules, &err);

	if (f && newline)
		read_lines(f, newline + 1, len - n - 1);
	if (!f)
		assert(*err.text);
	access_format_free(f);
	free(format);
}

static void put_escaped(struct buf *b, const uint8_t *data, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (data[i] == '"' || data[i] == '\\')
			buf_printf(b, "\\%c", data[i]);
		else if (data[i] < ' ' || data[i] > '~')
			buf_printf(b, "\\x%02x", data[i]);
		else
			buf_putc(b, (char)data[i]);
	}
}

static void what_was_written_is_read(const uint8_t *data, size_t len)
{
	static struct access_format *f;
	struct error err = {0};
	size_t half = len / 2;
	struct buf b = {0};
	struct access_visit v;

	if (!f)
		f = access_format_new("combined", NULL, &rules, &err);
	buf_puts(&b,
		 "::1 - - [01/Jan/2026:00:00:00 +0000] \"GET /x\" 302 7 \"");
	put_escaped(&b, data, half);
	buf_puts(&b, "\" \"");
	put_escaped(&b, data + half, len - half);
	buf_puts(&b, "\"");
	if (access_format_read(f, b.data, b.len, &v, &err) < 0)
		abort();
	if (!(half == 1 && *data == '-'))
		assert(v.referrer.len == half &&
		       (!half || !memcmp(v.referrer.data, data, half)));
	if (!(len - half == 1 && data[half] == '-'))
		assert(v.user_agent.len == len - half &&
		       (len == half ||
			!memcmp(v.user_agent.data, data + half, len - half)));
	buf_free(&b);
}

struct pieces {
	const char *data;
	size_t left;
	size_t piece;
};

static ssize_t read_piece(void *arg, void *to, size_t len, struct error *err)
{
	struct pieces *p = arg;
	size_t n = p->piece < p->left ? p->piece : p->left;

	(void)err;
	n = n < len ? n : len;
	memcpy(to, p->data, n);
	p->data += n;
	p->left -= n;
	return (ssize_t)n;
}

static size_t check_line(const struct line *line, const char *text, size_t len,
			 size_t at, size_t max)
{
	const char *end = memchr(text + at, '\n', len - at);
	size_t n = end ? (size_t)(end - text) - at : len - at;

	assert(line->offset == at);
	assert(line->cut == (n > max));
	assert(line->len == (n < max ? n : max));
	assert(!memcmp(line->text, text + at, line->len));
	assert(line->unfinished == !end);
	return at + n + (end ? 1 : 0);
}

static void lines_are_whole(const char *text, size_t len, size_t piece)
{
	enum {
		LINE_MAX_BYTES = 9
	};
	struct pieces p = {text, len, piece};
	struct error err = {0};
	struct line_reader *r =
		line_reader_new(LINE_MAX_BYTES, read_piece, &p, &err);
	struct line line;
	size_t at = 0;
	int more;

	do {
		more = line_reader_fill(r, &err);
		while (line_reader_next(r, &line))
			at = check_line(&line, text, len, at, LINE_MAX_BYTES);
	} while (more > 0);
	assert(at == len);
	line_reader_free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	any_format((const char *)data, size);
	what_was_written_is_read(data, size);
	/* This is slow because of the memory that a reader takes. */
	if (data[0] % 16 == 0)
		lines_are_whole((const char *)data + 1, size - 1,
				data[0] / 16 + 1U);
	return 0;
}
