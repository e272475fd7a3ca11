#include "common/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/hex.h"

char *buf_reserve(struct buf *b, size_t extra)
{
	size_t cap = b->cap ? b->cap : 256;
	char *data;

	if (b->failed || extra > SIZE_MAX / 2 - b->len) {
		b->failed = true;
		return NULL;
	}
	if (b->len + extra <= b->cap)
		return b->data + b->len;
	while (cap < b->len + extra)
		cap *= 2;
	data = realloc(b->data, cap);
	if (!data) {
		b->failed = true;
		return NULL;
	}
	b->data = data;
	b->cap = cap;
	return b->data + b->len;
}

void buf_put_uint(struct buf *b, uint64_t number)
{
	char digits[20];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0);
	buf_append(b, digits + at, sizeof(digits) - at);
}

/* Prints into the room there is; once more if that was not enough. */
void buf_put_hex(struct buf *b, const void *bytes, size_t len)
{
	const unsigned char *from = bytes;
	char *to = buf_reserve(b, 2 * len);

	if (!to)
		return;
	for (size_t i = 0; i < len; i++) {
		to[2 * i] = hex_lower(from[i] >> 4);
		to[2 * i + 1] = hex_lower(from[i] & 15);
	}
	b->len += 2 * len;
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	size_t room = 64;
	va_list ap;
	char *to;
	int len;

	do {
		to = buf_reserve(b, room);
		if (!to)
			return;
		room = b->cap - b->len;
		va_start(ap, fmt);
		len = vsnprintf(to, room, fmt, ap);
		va_end(ap);
		if (len < 0) {
			b->failed = true;
			return;
		}
		if ((size_t)len < room) {
			b->len += (size_t)len;
			return;
		}
		room = (size_t)len + 1;
	} while (true);
}

const char *buf_cstr(struct buf *b)
{
	char *end = buf_reserve(b, 1);

	if (!end)
		return NULL;
	*end = '\0';
	return b->data;
}

void buf_consume(struct buf *b, size_t len)
{
	if (len >= b->len) {
		b->len = 0;
		return;
	}
	memmove(b->data, b->data + len, b->len - len);
	b->len -= len;
}

void buf_reset(struct buf *b)
{
	b->len = 0;
	b->failed = false;
}

void buf_empty(struct buf *b, size_t keep_max)
{
	if (b->cap > keep_max)
		buf_free(b);
	buf_reset(b);
}

void buf_free(struct buf *b)
{
	free(b->data);
	*b = (struct buf){0};
}
