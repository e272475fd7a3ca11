#include "common/json_text.h"

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

void json_put_string(struct buf *b, const char *text, size_t len)
{
	size_t from = 0;
	unsigned char c;

	buf_putc(b, '"');
	for (size_t i = 0; i < len; i++) {
		c = (unsigned char)text[i];
		if (c >= ' ' && c != '"' && c != '\\' && c != 0x7f)
			continue;
		buf_append(b, text + from, i - from);
		put_escaped(b, c);
		from = i + 1;
	}
	buf_append(b, text + from, len - from);
	buf_putc(b, '"');
}

void json_put_lossy(struct buf *b, const char *text, size_t len)
{
	struct buf clean = {0};
	size_t n;

	for (; len > 0; text += n, len -= n) {
		n = utf8_sequence(text, len);
		if (n > 0)
			buf_append(&clean, text, n);
		else
			buf_putc(&clean, '?');
		n = n ? n : 1;
	}
	json_put_string(b, clean.data ? clean.data : "", clean.len);
	b->failed |= clean.failed;
	buf_free(&clean);
}
