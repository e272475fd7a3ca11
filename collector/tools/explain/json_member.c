#include "collector/tools/explain/json_member.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json_text.h"

static void put_key(struct buf *b, const char *key)
{
	if (b->len && b->data[b->len - 1] != '{')
		buf_putc(b, ',');
	json_put_string(b, key, strlen(key));
	buf_putc(b, ':');
}

void member_text(struct buf *b, const char *key, const char *text, size_t len)
{
	put_key(b, key);
	if (len)
		json_put_lossy(b, text, len);
	else
		buf_puts(b, "null");
}

void member_word(struct buf *b, const char *key, const char *text)
{
	member_text(b, key, text, text ? strlen(text) : 0);
}

void member_uint(struct buf *b, const char *key, uint64_t number)
{
	put_key(b, key);
	buf_put_uint(b, number);
}

void member_null(struct buf *b, const char *key)
{
	put_key(b, key);
	buf_puts(b, "null");
}

void member_float(struct buf *b, const char *key, double number)
{
	char text[32];

	if (!isfinite(number)) {
		member_null(b, key);
		return;
	}
	put_key(b, key);
	/* 15 digits are always exact; %g omits trailing zeros. */
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, number);
		if (!(strtod(text, NULL) < number) &&
		    !(strtod(text, NULL) > number))
			break;
	}
	buf_puts(b, text);
}

void member_open(struct buf *b, const char *key)
{
	put_key(b, key);
	buf_putc(b, '{');
}
