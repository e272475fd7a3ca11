#include "common/config/value.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"

/* --- C to text --- */

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
	if (s->type == SETTING_TYPE_DURATION)
		return duration_format(value, text);
	if (s->type == SETTING_TYPE_SIZE)
		format_size(value, text);
	else
		snprintf(text, DURATION_TEXT_MAX, "%" PRId64, value);
	return text;
}

/* Others that read YAML take 0660 for a number, which they would write as 432.
 */
static bool is_octal(const char *text)
{
	return text[0] == '0' && text[1] && !text[strspn(text, "01234567")];
}

void value_print_text(const char *text, struct buf *out)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789-_./+";
	size_t run = strspn(text, plain);

	/* A colon is plain inside a word ("127.0.0.1:80"), not at its ends. */
	while (run && text[run] == ':' && text[run + 1] && text[run + 1] != ' ')
		run += 1 + strspn(text + run + 1, plain);
	if (*text && !text[run] && *text != '-' && !is_octal(text)) {
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
	case SETTING_TYPE_INT:
	case SETTING_TYPE_SIZE:
	case SETTING_TYPE_DURATION:
		buf_puts(out,
			 value_format_number(s, *(const int64_t *)at, text));
		return;
	case SETTING_TYPE_BOOL:
		buf_puts(out, *(const bool *)at ? "true" : "false");
		return;
	case SETTING_TYPE_STRINGS:
		print_strings(at, out);
		return;
	case SETTING_TYPE_STRING:
	case SETTING_TYPE_PATH:
	case SETTING_TYPE_ENUM:
	case SETTING_TYPE_SECRET:
	case SETTING_TYPE_LIST:
		break;
	}
	string = *(char *const *)at;
	if (string)
		value_print_text(
			s->type == SETTING_TYPE_SECRET ? "***" : string, out);
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
		[SETTING_TYPE_STRING] = "text",
		[SETTING_TYPE_PATH] = "path",
		[SETTING_TYPE_SECRET] =
			"secret: file:/path, credential:NAME or env:NAME",
		[SETTING_TYPE_ENUM] = "one of",
		[SETTING_TYPE_INT] = "whole number",
		[SETTING_TYPE_SIZE] = "size",
		[SETTING_TYPE_DURATION] = "duration",
		[SETTING_TYPE_BOOL] = "true or false",
		[SETTING_TYPE_STRINGS] = "list of texts",
		[SETTING_TYPE_LIST] = "list of mappings",
	};

	buf_puts(out, names[s->type]);
	for (size_t i = 0; s->type == SETTING_TYPE_ENUM && s->choices[i]; i++)
		buf_printf(out, "%s%s", i ? ", " : " ", s->choices[i]);
	describe_range(s, out);
	if (s->fallback && *s->fallback)
		buf_printf(out, "; default %s", s->fallback);
	else if (!s->fallback && !s->optional)
		buf_puts(out, "; required");
}

/* --- text to C --- */

static const struct size_unit {
	const char *suffix;
	int64_t bytes;
} size_units[] = {
	{"GiB", INT64_C(1) << 30},
	{"MiB", INT64_C(1) << 20},
	{"KiB", INT64_C(1) << 10},
	{"B", 1},
	{"", 1},
};
#define SIZE_UNIT_COUNT (sizeof(size_units) / sizeof(size_units[0]))

static void *field(const struct setting *s, void *base)
{
	return (char *)base + s->offset;
}

static int parse_number(const char *text, int64_t *ret, const char **ret_end)
{
	char *end;

	errno = 0;
	*ret = strtoll(text, &end, 10);
	*ret_end = end;
	return errno || end == text ? -1 : 0;
}

static int parse_int(const char *text, int64_t *ret, struct error *err)
{
	const char *end;

	if (parse_number(text, ret, &end) < 0 || *end)
		return error_set(err, ERROR_CONFIG,
				 "expected a whole number, not '%.60s'", text);
	return 0;
}

static int parse_size(const char *text, int64_t *ret, struct error *err)
{
	const char *end;
	int64_t n;

	if (parse_number(text, &n, &end) == 0 && n >= 0) {
		for (size_t i = 0; i < SIZE_UNIT_COUNT; i++) {
			if (strcmp(end, size_units[i].suffix) != 0 ||
			    n > INT64_MAX / size_units[i].bytes)
				continue;
			*ret = n * size_units[i].bytes;
			return 0;
		}
	}
	return error_set(err, ERROR_CONFIG,
			 "expected a size such as 64KiB or 16MiB, not '%.60s'",
			 text);
}

static int check_range(const struct setting *s, int64_t value,
		       struct error *err)
{
	int64_t max = s->max ? s->max : INT64_MAX;
	char low[DURATION_TEXT_MAX], high[DURATION_TEXT_MAX];

	if (value >= s->min && value <= max)
		return 0;
	if (!s->max)
		return error_set(err, ERROR_CONFIG, "must be at least %s",
				 value_format_number(s, s->min, low));
	return error_set(err, ERROR_CONFIG, "must be from %s to %s",
			 value_format_number(s, s->min, low),
			 value_format_number(s, s->max, high));
}

static int store_number(const struct setting *s, const char *text, void *base,
			struct error *err)
{
	int64_t value = 0;
	int status;

	if (s->type == SETTING_TYPE_DURATION)
		status = duration_parse(text, &value, err);
	else if (s->type == SETTING_TYPE_SIZE)
		status = parse_size(text, &value, err);
	else
		status = parse_int(text, &value, err);
	if (status < 0 || check_range(s, value, err) < 0)
		return -1;
	*(int64_t *)field(s, base) = value;
	return 0;
}

static int store_bool(const struct setting *s, const char *text, void *base,
		      struct error *err)
{
	bool yes = !strcmp(text, "true") || !strcmp(text, "yes");

	if (!yes && strcmp(text, "false") != 0 && strcmp(text, "no") != 0)
		return error_set(err, ERROR_CONFIG,
				 "expected true or false, not '%.60s'", text);
	*(bool *)field(s, base) = yes;
	return 0;
}

static int store_text(const struct setting *s, const char *text, void *base,
		      struct error *err)
{
	char *copy = strdup(text);

	if (!copy)
		return error_set_nomem(err);
	*(char **)field(s, base) = copy;
	return 0;
}

static int store_enum(const struct setting *s, const char *text, void *base,
		      struct error *err)
{
	struct buf list = {0};
	size_t i;

	for (i = 0; s->choices[i]; i++) {
		if (!strcmp(s->choices[i], text))
			return store_text(s, text, base, err);
	}
	for (i = 0; s->choices[i]; i++)
		buf_printf(&list, "%s%s", i ? ", " : "", s->choices[i]);
	error_set(err, ERROR_CONFIG, "expected one of %s, not '%.60s'",
		  buf_cstr(&list), text);
	buf_free(&list);
	return -1;
}

static int read_secret_file(const char *path, struct buf *out,
			    struct error *err)
{
	FILE *in = fopen(path, "re");
	char chunk[1024];
	size_t got;
	int status = 0;

	if (!in)
		return error_set_errno(err, "cannot read the secret in %s",
				       path);
	while ((got = fread(chunk, 1, sizeof(chunk), in)) > 0 &&
	       out->len < 65536)
		buf_append(out, chunk, got);
	if (ferror(in))
		status = error_set_errno(err, "cannot read the secret in %s",
					 path);
	fclose(in);
	while (out->len && strchr("\r\n", out->data[out->len - 1]))
		out->len--;
	return status;
}

static int store_secret_file(const struct setting *s, const char *path,
			     void *base, struct error *err)
{
	struct buf secret = {0};
	const char *value;
	int status = -1;

	if (read_secret_file(path, &secret, err) < 0)
		goto out;
	value = buf_cstr(&secret);
	if (!value)
		error_set_nomem(err);
	else if (!*value)
		error_set(err, ERROR_CONFIG, "the secret in %s is empty", path);
	else
		status = store_text(s, value, base, err);
out:
	buf_free(&secret);
	return status;
}

/* One that systemd has put where only this unit reads it (LoadCredential=). */
static int store_credential(const struct setting *s, const char *name,
			    void *base, struct error *err)
{
	const char *directory = getenv("CREDENTIALS_DIRECTORY");
	char path[PATH_MAX];
	int len;

	if (!*name || strchr(name, '/') || *name == '.')
		return error_set(err, ERROR_CONFIG,
				 "'%.60s' is no name of a credential", name);
	if (!directory || !*directory)
		return error_set(err, ERROR_CONFIG,
				 "there is no $CREDENTIALS_DIRECTORY: start it "
				 "by systemd with LoadCredential=%.60s:FILE",
				 name);
	len = snprintf(path, sizeof(path), "%s/%s", directory, name);
	if (len < 0 || (size_t)len >= sizeof(path))
		return error_set(err, ERROR_CONFIG,
				 "the path of a credential is too long");
	return store_secret_file(s, path, base, err);
}

static int store_secret(const struct setting *s, const char *text, void *base,
			struct error *err)
{
	const char *value;

	if (!strncmp(text, "file:", 5))
		return store_secret_file(s, text + 5, base, err);
	if (!strncmp(text, "credential:", 11))
		return store_credential(s, text + 11, base, err);
	if (strncmp(text, "env:", 4) != 0)
		return error_set(
			err, ERROR_CONFIG,
			"a secret is written file:/path, "
			"credential:NAME or env:NAME, never as itself");
	value = getenv(text + 4);
	if (!value)
		return error_set(err, ERROR_CONFIG,
				 "the environment has no variable %.60s",
				 text + 4);
	return store_text(s, value, base, err);
}

int value_parse(const struct setting *s, const char *text, void *base,
		struct error *err)
{
	switch (s->type) {
	case SETTING_TYPE_INT:
	case SETTING_TYPE_SIZE:
	case SETTING_TYPE_DURATION:
		return store_number(s, text, base, err);
	case SETTING_TYPE_BOOL:
		return store_bool(s, text, base, err);
	case SETTING_TYPE_ENUM:
		return store_enum(s, text, base, err);
	case SETTING_TYPE_SECRET:
		return store_secret(s, text, base, err);
	case SETTING_TYPE_STRING:
	case SETTING_TYPE_PATH:
	case SETTING_TYPE_STRINGS:
	case SETTING_TYPE_LIST:
		break;
	}
	return store_text(s, text, base, err);
}

int value_append_string(const struct setting *s, const char *text, void *base,
			struct error *err)
{
	struct setting_strings *list = field(s, base);
	char **items =
		realloc(list->items, (list->count + 1) * sizeof(*list->items));

	if (!items)
		return error_set_nomem(err);
	list->items = items;
	list->items[list->count] = strdup(text);
	if (!list->items[list->count])
		return error_set_nomem(err);
	list->count++;
	return 0;
}

int value_parse_strings(const struct setting *s, const char *text, void *base,
			struct error *err)
{
	char *copy = strdup(text), *rest = copy, *item;
	int status = copy ? 0 : error_set_nomem(err);

	while (status == 0 && (item = strsep(&rest, ","))) {
		item += strspn(item, " ");
		if (*item)
			status = value_append_string(s, item, base, err);
	}
	free(copy);
	return status;
}

void value_release(const struct setting *s, void *base)
{
	struct setting_strings *list;
	char **text;

	switch (s->type) {
	case SETTING_TYPE_STRING:
	case SETTING_TYPE_PATH:
	case SETTING_TYPE_ENUM:
	case SETTING_TYPE_SECRET:
		text = field(s, base);
		if (*text && s->type == SETTING_TYPE_SECRET)
			explicit_bzero(*text, strlen(*text));
		free(*text);
		*text = NULL;
		break;
	case SETTING_TYPE_STRINGS:
		list = field(s, base);
		for (size_t i = 0; i < list->count; i++)
			free(list->items[i]);
		free(list->items);
		*list = (struct setting_strings){0};
		break;
	case SETTING_TYPE_INT:
	case SETTING_TYPE_SIZE:
	case SETTING_TYPE_DURATION:
	case SETTING_TYPE_BOOL:
	case SETTING_TYPE_LIST:
		break;
	}
}
