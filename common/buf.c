#include "common/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void buf_append(struct buf *b, const void *data, size_t len)
{
	char *to;

	if (len == 0)
		return;
	to = buf_reserve(b, len);
	if (!to)
		return;
	memcpy(to, data, len);
	b->len += len;
}

void buf_puts(struct buf *b, const char *text)
{
	buf_append(b, text, strlen(text));
}

void buf_putc(struct buf *b, char c)
{
	buf_append(b, &c, 1);
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	char *to;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (len < 0) {
		b->failed = true;
		return;
	}
	to = buf_reserve(b, (size_t)len + 1);
	if (!to)
		return;
	va_start(ap, fmt);
	vsnprintf(to, (size_t)len + 1, fmt, ap);
	va_end(ap);
	b->len += (size_t)len;
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

void buf_free(struct buf *b)
{
	free(b->data);
	*b = (struct buf){0};
}
