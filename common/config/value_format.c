#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/config/value.h"

static void format_size(int64_t bytes, char text[DURATION_TEXT_MAX])
{
	static const char *const suffixes[] = {"", "KiB", "MiB", "GiB"};
	size_t i = 0;

	while (i < 3 && bytes && bytes % 1024 == 0) {
		bytes /= 1024;
		i++;
	}
	snprintf(text, DURATION_TEXT_MAX, "%" PRId64 "%s", bytes, suffixes[i]);
}

const char *value_format_number(const struct setting *s, int64_t value,
				char text[DURATION_TEXT_MAX])
{
	if (s->type == SETTING_DURATION)
		return duration_format(value, text);
	if (s->type == SETTING_SIZE)
		format_size(value, text);
	else
		snprintf(text, DURATION_TEXT_MAX, "%" PRId64, value);
	return text;
}

void value_print_text(const char *text, struct buf *out)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789-_./+";
	size_t run = strspn(text, plain);

	/* A colon is plain inside a word ("127.0.0.1:80"), not at its end. */
	while (text[run] == ':' && text[run + 1] && text[run + 1] != ' ')
		run += 1 + strspn(text + run + 1, plain);
	if (*text && !text[run] && *text != '-') {
		buf_puts(out, text);
		return;
	}
	buf_putc(out, '"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			buf_putc(out, '\\');
		if ((unsigned char)*text < 0x20)
			buf_printf(out, "\\x%02x", (unsigned)*text);
		else
			buf_putc(out, *text);
	}
	buf_putc(out, '"');
}

static void print_strings(const struct setting_strings *list, struct buf *out)
{
	buf_putc(out, '[');
	for (size_t i = 0; i < list->count; i++) {
		if (i)
			buf_puts(out, ", ");
		value_print_text(list->items[i], out);
	}
	buf_putc(out, ']');
}

void value_print(const struct setting *s, const void *base, struct buf *out)
{
	const void *at = (const char *)base + s->offset;
	char text[DURATION_TEXT_MAX];
	const char *string;

	switch (s->type) {
	case SETTING_INT:
	case SETTING_SIZE:
	case SETTING_DURATION:
		buf_puts(out,
			 value_format_number(s, *(const int64_t *)at, text));
		return;
	case SETTING_BOOL:
		buf_puts(out, *(const bool *)at ? "true" : "false");
		return;
	case SETTING_STRINGS:
		print_strings(at, out);
		return;
	case SETTING_STRING:
	case SETTING_PATH:
	case SETTING_ENUM:
	case SETTING_SECRET:
	case SETTING_LIST:
		break;
	}
	string = *(char *const *)at;
	if (string)
		value_print_text(s->type == SETTING_SECRET ? "***" : string,
				 out);
	else
		buf_puts(out, "null");
}

static void describe_range(const struct setting *s, struct buf *out)
{
	char text[DURATION_TEXT_MAX];

	if (s->min)
		buf_printf(out, ", at least %s",
			   value_format_number(s, s->min, text));
	if (s->max)
		buf_printf(out, ", at most %s",
			   value_format_number(s, s->max, text));
}

void value_describe(const struct setting *s, struct buf *out)
{
	static const char *const names[] = {
		[SETTING_STRING] = "text",
		[SETTING_PATH] = "path",
		[SETTING_SECRET] = "secret: file:/path or env:NAME",
		[SETTING_ENUM] = "one of",
		[SETTING_INT] = "whole number",
		[SETTING_SIZE] = "size",
		[SETTING_DURATION] = "duration",
		[SETTING_BOOL] = "true or false",
		[SETTING_STRINGS] = "list of texts",
		[SETTING_LIST] = "list of mappings",
	};

	buf_puts(out, names[s->type]);
	for (size_t i = 0; s->type == SETTING_ENUM && s->choices[i]; i++)
		buf_printf(out, "%s%s", i ? ", " : " ", s->choices[i]);
	describe_range(s, out);
	if (s->fallback && *s->fallback)
		buf_printf(out, "; default %s", s->fallback);
	else if (!s->fallback && !s->optional)
		buf_puts(out, "; required");
}
