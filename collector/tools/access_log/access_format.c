#include "collector/tools/access_log/access_format.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/tools/access_log/access_names.h"
#include "collector/tools/access_log/access_pattern.h"
#include "collector/tools/access_log/access_visit.h"
#include "common/buf.h"
#include "common/error.h"
#include "common/utf8.h"

/* --- logs with a JSON object a line, as nginx's escape=json --------------- */

enum {
	NUMBER_MAX = 40
};

struct json_lines {
	char *keys[ACCESS_FIELD_COUNT]; /* NULL: the usual ones */
	json_t *root;			/* of the line last read */
	char numbers[ACCESS_FIELD_COUNT][NUMBER_MAX];
	struct buf clean;
};

/* One "field=key". */
static int take_key(struct json_lines *j, const char *at, size_t len,
		    struct error *err)
{
	const char *equals = memchr(at, '=', len);
	size_t name = equals ? (size_t)(equals - at) : 0;
	enum access_field field = access_field_by_name(at, name);

	if (!equals || field == ACCESS_PASSED || name + 1 == len)
		return error_set(err, ERROR_USAGE,
				 "--json-keys: '%.*s': expected field=key, the "
				 "field one of address, time, request, method, "
				 "uri, query, status, referrer, user_agent, "
				 "language, host, purpose",
				 (int)(len < 60 ? len : 60), at);
	free(j->keys[field]);
	j->keys[field] = strndup(equals + 1, len - name - 1);
	return j->keys[field] ? 0 : error_set_nomem(err);
}

static void json_lines_free(struct json_lines *j)
{
	if (!j)
		return;
	for (size_t i = 0; i < ACCESS_FIELD_COUNT; i++)
		free(j->keys[i]);
	json_decref(j->root);
	buf_free(&j->clean);
	free(j);
}

static struct json_lines *json_lines_new(const char *keys, struct error *err)
{
	struct json_lines *j = calloc(1, sizeof(*j));
	size_t len;

	if (!j) {
		error_set_nomem(err);
		return NULL;
	}
	for (; keys && *keys; keys += len + (keys[len] == ',')) {
		len = strcspn(keys, ",");
		if (take_key(j, keys, len, err) < 0) {
			json_lines_free(j);
			return NULL;
		}
	}
	return j;
}

/* A text, or a number written as one; a dash is nothing. */
static void take_value(struct json_lines *j, enum access_field field,
		       const json_t *value, struct access_fields *fields)
{
	struct access_text *t = &fields->texts[field];
	char *number = j->numbers[field];

	if (t->len)
		return;
	if (json_is_string(value))
		*t = (struct access_text){json_string_value(value),
					  json_string_length(value)};
	else if (json_is_integer(value))
		snprintf(number, NUMBER_MAX, "%" JSON_INTEGER_FORMAT,
			 json_integer_value(value));
	else if (json_is_real(value))
		snprintf(number, NUMBER_MAX, "%.3f", json_real_value(value));
	else
		return;
	if (!json_is_string(value))
		*t = (struct access_text){number, strlen(number)};
	if (t->len == 1 && *t->data == '-')
		*t = (struct access_text){0};
}

/* "peer.ip" is the member ip of the member peer, unless it is a key itself. */
static const json_t *look_up(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	const char *dot = strchr(key, '.');
	char name[64];

	if (value || !dot || (size_t)(dot - key) >= sizeof(name))
		return value;
	memcpy(name, key, (size_t)(dot - key));
	name[dot - key] = '\0';
	return look_up(json_object_get(object, name), dot + 1);
}

static void take_all(struct json_lines *j, struct access_fields *fields)
{
	const char *key;
	json_t *value;

	for (int i = 0; i < ACCESS_FIELD_COUNT; i++)
		if (j->keys[i])
			take_value(j, (enum access_field)i,
				   look_up(j->root, j->keys[i]), fields);
	json_object_foreach(j->root, key, value)
	{
		enum access_field field = access_field_of_key(key, strlen(key));

		if (field != ACCESS_PASSED && !j->keys[field])
			take_value(j, field, value, fields);
	}
}

static json_t *parse_clean(struct json_lines *j, const char *line, size_t len,
			   json_error_t *at)
{
	size_t n;

	buf_reset(&j->clean);
	for (; len > 0; line += n, len -= n) {
		n = utf8_sequence(line, len);
		if (n > 0)
			buf_append(&j->clean, line, n);
		else
			buf_putc(&j->clean, '?');
		n = n ? n : 1;
	}
	if (j->clean.failed)
		return NULL;
	return json_loadb(j->clean.data, j->clean.len, JSON_ALLOW_NUL, at);
}

/* Texts live until the next call.  What is not UTF-8 in a line becomes question
 * marks, because it is none in JSON. */
static int json_lines_read(struct json_lines *j, const char *line, size_t len,
			   struct access_fields *ret_fields, struct error *err)
{
	json_error_t at = {0};

	*ret_fields = (struct access_fields){0};
	json_decref(j->root);
	j->root = json_loadb(line, len, JSON_ALLOW_NUL, &at);
	if (!j->root && json_error_code(&at) == json_error_invalid_utf8)
		j->root = parse_clean(j, line, len, &at);
	if (!j->root)
		return error_set(err, ERROR_INPUT,
				 "column %d: not JSON: %.100s", at.column,
				 at.text);
	if (!json_is_object(j->root))
		return error_set(err, ERROR_INPUT, "not a JSON object");
	take_all(j, ret_fields);
	return 0;
}

/* --- all formats ---------------------------------------------------------- */

#define COMBINED "%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-Agent}i\""

/* In the order in which they are tried; json is the one without a text. */
static const struct {
	const char *name;
	const char *format;
} known[] = {
	{"json", NULL},
	{"combined", COMBINED},
	{"vhost_combined", "%v:%p " COMBINED},
	{"common", "%h %l %u %t \"%r\" %>s %b"},
};

enum {
	KNOWN_COUNT = sizeof(known) / sizeof(known[0]),
};

struct access_reader {
	const char *name;
	struct access_pattern *pattern; /* NULL: json */
};

struct access_format {
	struct access_reader readers[KNOWN_COUNT];
	size_t count;
	const struct access_reader *chosen; /* NULL: not yet */
	struct json_lines *json;
	struct buf scratch;
};

static int add(struct access_format *f, const char *name, const char *format,
	       bool open_end, struct error *err)
{
	struct access_reader *r = &f->readers[f->count];

	r->name = name;
	if (format) {
		r->pattern = access_pattern_new(format, open_end, err);
		if (!r->pattern)
			return -1;
	}
	f->count++;
	return 0;
}

static int fill(struct access_format *f, const char *text, struct error *err)
{
	bool any = !strcmp(text, "auto");

	if (!strcmp(text, "clf"))
		text = "common";
	for (size_t i = 0; i < KNOWN_COUNT; i++)
		if ((any || !strcmp(text, known[i].name)) &&
		    add(f, known[i].name, known[i].format, true, err) < 0)
			return -1;
	if (f->count)
		return 0;
	if (!strpbrk(text, "%$"))
		return error_set(
			err, ERROR_USAGE,
			"--format: '%s' is none of auto, combined, "
			"common, vhost_combined and json, and has no %% "
			"or $ in it",
			text);
	return add(f, "as given", text, false, err);
}

struct access_format *access_format_new(const char *text, const char *json_keys,
					struct error *err)
{
	struct access_format *f = calloc(1, sizeof(*f));

	if (!f) {
		error_set_nomem(err);
		return NULL;
	}
	f->json = json_lines_new(json_keys, err);
	if (f->json && fill(f, text, err) == 0) {
		access_format_restart(f);
		return f;
	}
	access_format_free(f);
	return NULL;
}

void access_format_free(struct access_format *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < KNOWN_COUNT; i++)
		access_pattern_free(f->readers[i].pattern);
	json_lines_free(f->json);
	buf_free(&f->scratch);
	free(f);
}

void access_format_restart(struct access_format *f)
{
	f->chosen = f->count == 1 ? &f->readers[0] : NULL;
}

const char *access_format_name(const struct access_format *f)
{
	return f->chosen ? f->chosen->name : "nothing new";
}

static int read_as(struct access_format *f, const struct access_reader *r,
		   const char *line, size_t len, struct access_visit *ret_visit,
		   struct error *err)
{
	struct access_fields fields;
	const char *time_format = NULL;

	if (!r->pattern) {
		if (json_lines_read(f->json, line, len, &fields, err) < 0)
			return -1;
	} else {
		time_format = access_pattern_time(r->pattern);
		if (access_pattern_read(r->pattern, line, len, &f->scratch,
					&fields, err) < 0)
			return -1;
	}
	return access_visit_read(&fields, time_format, ret_visit, err);
}

/* Chooses the first format that reads the line and finds an address in it; or
 * else the first that reads it. */
static const struct access_reader *choose(struct access_format *f,
					  const char *line, size_t len)
{
	const struct access_reader *fair = NULL;
	struct error err = {0};
	struct access_visit v;

	for (size_t i = 0; i < f->count; i++) {
		const struct access_reader *r = &f->readers[i];

		if (read_as(f, r, line, len, &v, &err) < 0)
			continue;
		if (v.ip_len)
			return r;
		fair = fair ? fair : r;
	}
	return fair;
}

int access_format_read(struct access_format *f, const char *line, size_t len,
		       struct access_visit *ret_visit, struct error *err)
{
	if (len && line[len - 1] == '\r')
		len--;
	if (!f->chosen)
		f->chosen = choose(f, line, len);
	if (!f->chosen)
		return error_set(err, ERROR_INPUT,
				 "in none of the usual formats; see --format");
	return read_as(f, f->chosen, line, len, ret_visit, err);
}
