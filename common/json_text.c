#include "common/json_text.h"

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
