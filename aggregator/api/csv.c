#include "aggregator/api/csv.h"

#include <string.h>

static bool begins_formula(const char *text)
{
	return *text && strchr("=+-@\t\r\n", *text);
}

void csv_put_text(struct buf *out, const char *text)
{
	bool formula = begins_formula(text);

	if (!formula && !strpbrk(text, ",;\t\"\r\n")) {
		buf_puts(out, text);
		return;
	}
	buf_puts(out, formula ? "\"'" : "\"");
	for (; *text; text++) {
		if (*text == '"')
			buf_putc(out, '"');
		buf_putc(out, *text);
	}
	buf_putc(out, '"');
}
