#include "collector/tools/access_log/access_json.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/tools/access_log/access_names.h"
#include "common/buf.h"
#include "common/utf8.h"

enum {
	NUMBER_MAX = 40
};

struct access_json {
	char *keys[ACCESS_FIELD_COUNT]; /* NULL: the usual ones */
	json_t *root;			/* of the line last read */
	char numbers[ACCESS_FIELD_COUNT][NUMBER_MAX];
	struct buf clean;
};

/* One "field=key". */
static int take_key(struct access_json *j, const char *at, size_t len,
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

void access_json_free(struct access_json *j)
{
	if (!j)
		return;
	for (size_t i = 0; i < ACCESS_FIELD_COUNT; i++)
		free(j->keys[i]);
	json_decref(j->root);
	buf_free(&j->clean);
	free(j);
}

/* A text, or a number written as one; a dash is nothing. */
static void take_value(struct access_json *j, enum access_field field,
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

static void take_all(struct access_json *j, struct access_fields *fields)
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
