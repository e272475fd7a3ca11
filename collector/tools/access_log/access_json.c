#include "collector/tools/access_log/access_json.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/tools/access_log/access_names.h"
#include "common/buf.h"
#include "common/utf8.h"

enum {
	NUMBER_MAX = 40,
	KEY_MAX = 160,
	DEPTH_MAX = 6,
};

struct access_json {
	char *keys[ACCESS_FIELD_COUNT]; /* NULL: the usual key */
	json_t *root;			/* the line read last */
	char numbers[ACCESS_FIELD_COUNT][NUMBER_MAX];
	struct buf lists[ACCESS_FIELD_COUNT];
	struct buf clean;
};

/* The target of a line that is read. */
struct json_reading {
	struct access_json *j;
	struct access_unknown *unknown;
	struct access_fields *fields;
	/* Ranks of the keys that set the fields. */
	unsigned ranks[ACCESS_FIELD_COUNT];
	char path[KEY_MAX];
};

static int refuse_key(const char *at, size_t len, struct error *err)
{
	struct buf names = {0};
	const char *text;

	access_field_put_names(&names);
	text = buf_cstr(&names);
	error_set(err, ERROR_USAGE,
		  "--json-keys: '%.*s': expected field=key, the field one of "
		  "%s",
		  (int)(len < 60 ? len : 60), at, text ? text : "");
	buf_free(&names);
	return -1;
}

/* Reads one "field=key". */
static int take_key(struct access_json *j, const char *at, size_t len,
		    struct error *err)
{
	const char *equals = memchr(at, '=', len);
	size_t name = equals ? (size_t)(equals - at) : 0;
	enum access_field field = access_field_by_name(at, name);

	if (!equals || field == ACCESS_PASSED || name + 1 == len)
		return refuse_key(at, len, err);
	free(j->keys[field]);
	j->keys[field] = strndup(equals + 1, len - name - 1);
	return j->keys[field] ? 0 : error_set_nomem(err);
}

void access_json_free(struct access_json *j)
{
	if (!j)
		return;
	for (size_t i = 0; i < ACCESS_FIELD_COUNT; i++) {
		free(j->keys[i]);
		buf_free(&j->lists[i]);
	}
	json_decref(j->root);
	buf_free(&j->clean);
	free(j);
}

struct access_json *access_json_new(const char *keys, struct error *err)
{
	struct access_json *j = calloc(1, sizeof(*j));
	size_t len;

	if (!j) {
		error_set_nomem(err);
		return NULL;
	}
	for (; keys && *keys; keys += len + (keys[len] == ',')) {
		len = strcspn(keys, ",");
		if (take_key(j, keys, len, err) < 0) {
			access_json_free(j);
			return NULL;
		}
	}
	return j;
}

/* --- values --------------------------------------------------------------- */

static bool is_address(enum access_field field)
{
	return field == ACCESS_ADDRESS || field == ACCESS_FORWARDED ||
	       field == ACCESS_CLIENT;
}

/* Joins a list: each proxy may have added a line of the header. */
static struct access_text join_list_items(struct buf *to, const json_t *list)
{
	size_t i;
	json_t *item;

	buf_reset(to);
	json_array_foreach(list, i, item)
	{
		if (!json_is_string(item))
			continue;
		buf_puts(to, to->len ? ", " : "");
		buf_append(to, json_string_value(item),
			   json_string_length(item));
	}
	if (to->failed)
		return (struct access_text){0};
	return (struct access_text){to->data, to->len};
}

/* Returns a text, or a number as text; a dash is empty, except for a status. */
static struct access_text text_of(struct access_json *j,
				  enum access_field field, const json_t *value)
{
	char *number = j->numbers[field];
	struct access_text t = {0};

	if (json_is_array(value) && is_address(field))
		return join_list_items(&j->lists[field], value);
	if (json_is_array(value))
		value = json_array_get(value, 0);
	if (json_is_string(value))
		t = (struct access_text){json_string_value(value),
					 json_string_length(value)};
	else if (json_is_integer(value))
		snprintf(number, NUMBER_MAX, "%" JSON_INTEGER_FORMAT,
			 json_integer_value(value));
	else if (json_is_real(value))
		snprintf(number, NUMBER_MAX, "%.3f", json_real_value(value));
	else
		return t;
	if (!json_is_string(value))
		t = (struct access_text){number, strlen(number)};
	if (t.len == 1 && *t.data == '-' && field != ACCESS_STATUS)
		t.len = 0;
	return t;
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

/* --- objects -------------------------------------------------------------- */

static bool is_chosen(const struct access_json *j, const char *path)
{
	for (size_t i = 0; i < ACCESS_FIELD_COUNT; i++)
		if (j->keys[i] && !strcmp(j->keys[i], path))
			return true;
	return false;
}

static void take_value(struct json_reading *r, const json_t *value)
{
	unsigned rank;
	enum access_field field =
		access_field_of_key(r->path, strlen(r->path), &rank);
	struct access_text t;

	if (field == ACCESS_PASSED) {
		if (!is_chosen(r->j, r->path))
			access_unknown_note(r->unknown, r->path,
					    strlen(r->path));
		return;
	}
	if (r->j->keys[field] ||
	    (r->fields->texts[field].len && r->ranks[field] <= rank))
		return;
	t = text_of(r->j, field, value);
	if (!t.len)
		return;
	r->fields->texts[field] = t;
	r->ranks[field] = rank;
}

static void take_object(struct json_reading *r, json_t *object, size_t len,
			unsigned depth)
{
	const char *key;
	json_t *value;
	size_t n;

	json_object_foreach(object, key, value)
	{
		n = strlen(key);
		if (len + n + 2 > KEY_MAX)
			continue;
		memcpy(r->path + len, key, n + 1);
		if (!json_is_object(value)) {
			take_value(r, value);
		} else if (depth < DEPTH_MAX) {
			r->path[len + n] = '.';
			take_object(r, value, len + n + 1, depth + 1);
		}
	}
}

static void take_chosen(struct json_reading *r)
{
	for (int i = 0; i < ACCESS_FIELD_COUNT; i++) {
		enum access_field field = (enum access_field)i;

		if (r->j->keys[i])
			r->fields->texts[i] =
				text_of(r->j, field,
					look_up(r->j->root, r->j->keys[i]));
	}
}

static json_t *parse_clean(struct access_json *j, const char *line, size_t len,
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

int access_json_read(struct access_json *j, const char *line, size_t len,
		     struct access_unknown *unknown,
		     struct access_fields *ret_fields, struct error *err)
{
	struct json_reading r = {
		.j = j, .unknown = unknown, .fields = ret_fields};
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
	take_chosen(&r);
	take_object(&r, j->root, 0, 0);
	return 0;
}
