#include "common/json_text.h"

#include <stdbool.h>

#include "common/utf8.h"

static void put_escaped(struct buf *b, unsigned char c)
{
	switch (c) {
	case '"':
	case '\\':
		buf_putc(b, '\\');
		buf_putc(b, (char)c);
		break;
	case '\n':
		buf_puts(b, "\\n");
		break;
	case '\r':
		buf_puts(b, "\\r");
		break;
	case '\t':
		buf_puts(b, "\\t");
		break;
	default:
		buf_printf(b, "\\u%04x", c);
	}
}

static bool is_plain(unsigned char c)
{
	return c >= ' ' && c != '"' && c != '\\' && c != 0x7f;
}

void json_put_string(struct buf *b, const char *text, size_t len)
{
	size_t from = 0;

	buf_putc(b, '"');
	for (size_t i = 0; i < len; i++) {
		if (is_plain((unsigned char)text[i]))
			continue;
		buf_append(b, text + from, i - from);
		put_escaped(b, (unsigned char)text[i]);
		from = i + 1;
	}
	buf_append(b, text + from, len - from);
	buf_putc(b, '"');
}

void json_put_lossy(struct buf *b, const char *text, size_t len)
{
	size_t from = 0, n;

	buf_putc(b, '"');
	for (size_t i = 0; i < len; i += n ? n : 1) {
		n = utf8_sequence(text + i, len - i);
		if (n > 1 || (n && is_plain((unsigned char)text[i])))
			continue;
		buf_append(b, text + from, i - from);
		if (n)
			put_escaped(b, (unsigned char)text[i]);
		else
			buf_putc(b, '?');
		from = i + 1;
	}
	buf_append(b, text + from, len - from);
	buf_putc(b, '"');
}
