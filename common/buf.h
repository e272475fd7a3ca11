/*
 * buf.h - a growing byte buffer.
 *
 * Start from `struct buf b = {0};`, end with buf_free.  Running out of memory
 * is sticky: later appends do nothing and `failed` stays set, so a caller
 * checks once, after the last append.
 */
#ifndef COMMON_BUF_H
#define COMMON_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct buf {
	char *data; /* NULL until the first append; not NUL-terminated */
	size_t len;
	size_t cap;
	bool failed;
};

/* Makes room for `extra` more bytes.  Returns where they start, or NULL. */
char *buf_reserve(struct buf *b, size_t extra);

/* Inline, so that a literal's length is known at compile time. */
static inline void buf_append(struct buf *b, const void *data, size_t len)
{
	char *to;

	if (len == 0)
		return;
	to = b->cap - b->len >= len && !b->failed ? b->data + b->len
						  : buf_reserve(b, len);
	if (!to)
		return;
	memcpy(to, data, len);
	b->len += len;
}

static inline void buf_puts(struct buf *b, const char *text)
{
	buf_append(b, text, strlen(text));
}

static inline void buf_putc(struct buf *b, char c)
{
	buf_append(b, &c, 1);
}

/* Appends the number in decimal. */
void buf_put_uint(struct buf *b, uint64_t number);
/* Appends two digits, in lower case, for each byte. */
void buf_put_hex(struct buf *b, const void *bytes, size_t len);
void buf_printf(struct buf *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Appends a NUL that `len` does not count.  Returns data, or NULL. */
const char *buf_cstr(struct buf *b);

/* Drops the first `len` bytes. */
void buf_consume(struct buf *b, size_t len);

/* Empties the buffer and keeps its memory; clears `failed`. */
void buf_reset(struct buf *b);

/* The same, and frees the memory if it is more than `keep_max` bytes. */
void buf_empty(struct buf *b, size_t keep_max);

/* Frees the memory and leaves an empty buffer. */
void buf_free(struct buf *b);

#endif
