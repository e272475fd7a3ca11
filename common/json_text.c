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

/* Bytes of the well-formed sequence at `text`, or 0 (Unicode, table 3-7). */
static size_t sequence(const unsigned char *text, size_t len)
{
	unsigned char low = 0x80, high = 0xbf;
	size_t more;

	if (text[0] < 0x80)
		return 1;
	if (text[0] < 0xc2 || text[0] > 0xf4)
		return 0;
	more = text[0] < 0xe0 ? 1 : text[0] < 0xf0 ? 2 : 3;
	if (text[0] == 0xe0)
		low = 0xa0;
	else if (text[0] == 0xed)
		high = 0x9f;
	else if (text[0] == 0xf0)
		low = 0x90;
	else if (text[0] == 0xf4)
		high = 0x8f;
	if (len <= more || text[1] < low || text[1] > high)
		return 0;
	for (size_t i = 2; i <= more; i++) {
		if (text[i] < 0x80 || text[i] > 0xbf)
			return 0;
	}
	return more + 1;
}

void json_put_lossy(struct buf *b, const char *text, size_t len)
{
	struct buf clean = {0};
	size_t n;

	for (; len > 0; text += n, len -= n) {
		n = sequence((const unsigned char *)text, len);
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
