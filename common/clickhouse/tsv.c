#include "common/clickhouse/tsv.h"

#include <stdlib.h>
#include <string.h>

struct tsv tsv_rows(struct buf *answer)
{
	/* A missing newline at the end is added. */
	if (answer->len && answer->data[answer->len - 1] != '\n')
		buf_putc(answer, '\n');
	if (answer->failed || !answer->len)
		return (struct tsv){.bad = answer->failed};
	return (struct tsv){answer->data, answer->data + answer->len, false};
}

static char unescape_char(char c)
{
	switch (c) {
	case 'b':
		return '\b';
	case 'f':
		return '\f';
	case 'n':
		return '\n';
	case 'r':
		return '\r';
	case 't':
		return '\t';
	case '0':
		return '\0';
	default:
		return c;
	}
}

/* Unescapes [from, to) in place and terminates it with a NUL. */
static void unescape_field(char *from, const char *to)
{
	char *out = from;

	if (to - from == 2 && !memcmp(from, "\\N", 2)) {
		*from = '\0';
		return;
	}
	for (char *p = from; p < to; p++) {
		if (*p == '\\' && p + 1 < to)
			*out++ = unescape_char(*++p);
		else
			*out++ = *p;
	}
	*out = '\0';
}

bool tsv_next(struct tsv *t, char **fields, size_t count)
{
	char *line_end;

	if (t->bad || t->p == t->end)
		return false;
	line_end = memchr(t->p, '\n', (size_t)(t->end - t->p));
	for (size_t i = 0; i < count; i++) {
		char *stop = memchr(t->p, i + 1 < count ? '\t' : '\n',
				    (size_t)(line_end - t->p) + 1);

		if (!stop || (i + 1 == count &&
			      memchr(t->p, '\t', (size_t)(stop - t->p)))) {
			t->bad = true;
			return false;
		}
		fields[i] = t->p;
		unescape_field(t->p, stop);
		t->p = stop + 1;
	}
	return true;
}

uint64_t tsv_u64(const char *field)
{
	return strtoull(field, NULL, 10);
}

int64_t tsv_i64(const char *field)
{
	return strtoll(field, NULL, 10);
}
