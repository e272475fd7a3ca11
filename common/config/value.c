#include "common/config/value.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/config/secret.h"

/* Including the NUL. */
#define OPTION_NAME_MAX 128

/* --- values to text --- */

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

/* Other YAML readers take 0660 for a number, which they would write as 432. */
static bool is_octal(const char *text)
{
	return text[0] == '0' && text[1] && !text[strspn(text, "01234567")];
}

/* Returns true if the text has another meaning without quotes.  "null": not
 * given. */
static bool needs_quotes(const char *text)
{
	return !*text || *text == '-' || is_octal(text) ||
	       !strcmp(text, "null");
}

void value_print_text(const char *text, struct buf *out)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789-_./+";
	size_t run = strspn(text, plain);

	/* A colon is plain inside a word ("127.0.0.1:80"), not at either end.
	 */
	while (run && text[run] == ':' && text[run + 1] && text[run + 1] != ' ')
		run += 1 + strspn(text + run + 1, plain);
	if (!text[run] && !needs_quotes(text)) {
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

/* Returns true if the option's value must not be shown.  `option`:
 * "name=value". */
static bool is_secret_option(const struct setting *s, const char *option)
{
	char name[OPTION_NAME_MAX];
	size_t len = strcspn(option, "=");

	/* No known name is this long: the value is hidden. */
	if (len >= sizeof(name))
		return true;
	memcpy(name, option, len);
	name[len] = '\0';
	return s->is_secret(name);
}

/* Prints the text without what is between "://" and "@", if it has a URL. */
static void print_masked(const char *text, struct buf *out)
{
	struct buf masked = {0};

	secret_mask_urls(text, &masked);
	if (buf_cstr(&masked))
		value_print_text(masked.data, out);
	else
		out->failed = true;
	buf_free(&masked);
}

/* Masks everything before the last '@': a password may contain any
 * character. */
static void print_url(const char *url, struct buf *out)
{
	const char *scheme = strstr(url, "://"), *at = strrchr(url, '@');
	struct buf masked = {0};

	if (scheme && at)
		buf_append(&masked, url, (size_t)(scheme + 3 - url));
	if (at)
		buf_puts(&masked, "***");
	buf_puts(&masked, at ? at : url);
	if (buf_cstr(&masked))
		value_print_text(masked.data, out);
	else
		out->failed = true;
	buf_free(&masked);
}

static void print_option(const char *option, struct buf *out)
{
	struct buf masked = {0};

	buf_append(&masked, option, strcspn(option, "="));
	buf_puts(&masked, "=***");
	if (buf_cstr(&masked))
		value_print_text(masked.data, out);
	else
		out->failed = true;
	buf_free(&masked);
}

static void print_strings(const struct setting *s,
			  const struct setting_strings *list, struct buf *out)
{
	buf_putc(out, '[');
	for (size_t i = 0; i < list->count; i++) {
		if (i)
			buf_puts(out, ", ");
		if (s->type == SETTING_TYPE_OPTIONS &&
		    is_secret_option(s, list->items[i]))
			print_option(list->items[i], out);
		else
			print_masked(list->items[i], out);
	}
	buf_putc(out, ']');
}

static void print_text_setting(const struct setting *s, const char *text,
			       struct buf *out)
{
	if (!text)
		buf_puts(out, "null");
	else if (s->type == SETTING_TYPE_SECRET)
		value_print_text("***", out);
	else if (s->type == SETTING_TYPE_URL)
		print_url(text, out);
	else
		print_masked(text, out);
}

void value_print(const struct setting *s, const void *base, struct buf *out)
{
	const void *at = (const char *)base + s->offset;
	char text[DURATION_TEXT_MAX];

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
	case SETTING_TYPE_OPTIONS:
		print_strings(s, at, out);
		return;
	case SETTING_TYPE_STRING:
	case SETTING_TYPE_PATH:
	case SETTING_TYPE_ENUM:
	case SETTING_TYPE_SECRET:
	case SETTING_TYPE_URL:
	case SETTING_TYPE_LIST:
		break;
	}
	print_text_setting(s, *(char *const *)at, out);
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
		[SETTING_TYPE_SECRET] = "secret: " SECRET_FORMS,
		[SETTING_TYPE_URL] =
			"URL; if there is a user or a password in it, "
			"written " SECRET_FORMS,
		[SETTING_TYPE_ENUM] = "one of",
		[SETTING_TYPE_INT] = "whole number",
		[SETTING_TYPE_SIZE] = "size",
		[SETTING_TYPE_DURATION] = "duration",
		[SETTING_TYPE_BOOL] = "true or false",
		[SETTING_TYPE_STRINGS] = "list of texts",
		[SETTING_TYPE_OPTIONS] =
			"list of name=value; of a secret: name=" SECRET_FORMS,
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

/* --- text to values --- */

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

static void *field_of_setting(const struct setting *s, void *base)
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
	*(int64_t *)field_of_setting(s, base) = value;
	return 0;
}

static int store_bool(const struct setting *s, const char *text, void *base,
		      struct error *err)
{
	bool yes = !strcmp(text, "true") || !strcmp(text, "yes");

	if (!yes && strcmp(text, "false") != 0 && strcmp(text, "no") != 0)
		return error_set(err, ERROR_CONFIG,
				 "expected true or false, not '%.60s'", text);
	*(bool *)field_of_setting(s, base) = yes;
	return 0;
}

static int store_text(const struct setting *s, const char *text, void *base,
		      struct error *err)
{
	char *copy = strdup(text);

	if (!copy)
		return error_set_nomem(err);
	*(char **)field_of_setting(s, base) = copy;
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

static int store_secret(const struct setting *s, const char *text, void *base,
			struct error *err)
{
	return secret_read(text, field_of_setting(s, base), err);
}

/* If the URL contains an '@', a password may precede it, whatever else is wrong
 * with the URL: the error does not show it. */
static int store_url(const struct setting *s, const char *text, void *base,
		     struct error *err)
{
	if (secret_is_reference(text))
		return secret_read(text, field_of_setting(s, base), err);
	if (strchr(text, '@'))
		return error_set(err, ERROR_CONFIG,
				 "a URL with a user or a password in it is "
				 "written " SECRET_FORMS ", never as itself");
	return store_text(s, text, base, err);
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
	case SETTING_TYPE_URL:
		return store_url(s, text, base, err);
	case SETTING_TYPE_STRING:
	case SETTING_TYPE_PATH:
	case SETTING_TYPE_STRINGS:
	case SETTING_TYPE_OPTIONS:
	case SETTING_TYPE_LIST:
		break;
	}
	return store_text(s, text, base, err);
}

static int append_text(const struct setting *s, const char *text, void *base,
		       struct error *err)
{
	struct setting_strings *list = field_of_setting(s, base);
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

static int append_secret_option(const struct setting *s, const char *text,
				size_t name, void *base, struct error *err)
{
	struct buf option = {0};
	char *secret = NULL;
	int status = secret_read(text + name + 1, &secret, err);

	if (status < 0)
		return error_wrap(err, "%.*s", (int)name, text);
	buf_append(&option, text, name + 1);
	buf_puts(&option, secret);
	status = buf_cstr(&option) ? append_text(s, option.data, base, err)
				   : error_set_nomem(err);
	if (option.data)
		explicit_bzero(option.data, option.cap);
	buf_free(&option);
	secret_free(secret);
	return status;
}

static int append_option(const struct setting *s, const char *text, void *base,
			 struct error *err)
{
	size_t name = strcspn(text, "=");

	if (name == 0 || !text[name])
		return error_set(err, ERROR_CONFIG,
				 "'%.*s': expected name=value",
				 secret_name_length(text), text);
	if (is_secret_option(s, text))
		return append_secret_option(s, text, name, base, err);
	if (strstr(text + name, "://") && strchr(text + name, '@'))
		return error_set(err, ERROR_CONFIG,
				 "%.*s: expected a URL without a user and a "
				 "password",
				 secret_name_length(text), text);
	return append_text(s, text, base, err);
}

int value_append_string(const struct setting *s, const char *text, void *base,
			struct error *err)
{
	if (s->type == SETTING_TYPE_OPTIONS)
		return append_option(s, text, base, err);
	return append_text(s, text, base, err);
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
	case SETTING_TYPE_URL:
		text = field_of_setting(s, base);
		secret_free(*text);
		*text = NULL;
		break;
	case SETTING_TYPE_STRINGS:
	case SETTING_TYPE_OPTIONS:
		list = field_of_setting(s, base);
		for (size_t i = 0; i < list->count; i++)
			secret_free(list->items[i]);
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
