#include "stack/clickhouse/settings.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "stack/clickhouse/failure.h"
#include "stack/clickhouse/query_request.h"

static const char param_prefix[] = "param_";
#define PARAM_PREFIX_LEN (sizeof(param_prefix) - 1)

static void append_quoted(struct buf *out, char quote, const char *text)
{
	buf_putc(out, quote);
	for (; *text; text++) {
		if (*text == quote || *text == '\\')
			buf_putc(out, '\\');
		buf_putc(out, *text);
	}
	buf_putc(out, quote);
}

int settings_use(const char *database, struct buf *out, struct error *err)
{
	if (!database)
		return 0;
	buf_puts(out, "USE ");
	append_quoted(out, '`', database);
	return out->failed ? error_set_nomem(err) : 0;
}

/* The names are put into SQL unchanged, so they have to be valid. */
static bool is_name(const char *name)
{
	if (!isalpha((unsigned char)*name) && *name != '_')
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && *name != '_')
			return false;
	return true;
}

static void append_assignment(struct buf *out, const char *name)
{
	buf_puts(out, out->len == 0 ? "SET " : ", ");
	buf_puts(out, name);
	buf_puts(out, " = ");
}

/* Returns true if the request itself forbids writing. */
static bool is_readonly(const struct url_params *params)
{
	const char *value = url_param_get(params, "readonly");

	return value && strcmp(value, "0") != 0;
}

static bool is_given(const struct url_params *params, const char *name)
{
	return url_param_get(params, name) != NULL;
}

int settings_set(const struct url_params *params, size_t max_result_bytes,
		 const char *comment, bool readonly, struct buf *out,
		 struct error *err)
{
	if (max_result_bytes && !is_given(params, "max_result_bytes")) {
		append_assignment(out, "max_result_bytes");
		buf_printf(out, "%zu", max_result_bytes);
	}
	if (comment && !is_given(params, "log_comment")) {
		append_assignment(out, "log_comment");
		append_quoted(out, '\'', comment);
	}
	for (size_t i = 0; i < params->count; i++) {
		const struct url_param *p = &params->items[i];

		if (!query_request_is_setting(p->key))
			continue;
		if (!is_name(p->key))
			return failure_set(err, FAILURE_UNKNOWN_SETTING,
					   "Unknown setting '%.100s'", p->key);
		append_assignment(out, p->key);
		append_quoted(out, '\'', p->value);
	}
	if (readonly && !is_readonly(params)) {
		append_assignment(out, "readonly");
		buf_puts(out, "2");
	}
	return out->failed ? error_set_nomem(err) : 0;
}

void settings_unset(const struct url_params *params, struct buf *out)
{
	for (size_t i = 0; i < params->count; i++) {
		const char *name = params->items[i].key;

		if (!query_request_is_setting(name) || !is_name(name))
			continue;
		append_assignment(out, name);
		buf_puts(out, "DEFAULT");
	}
}

int settings_params(const struct url_params *params, struct engine_params *ret,
		    struct error *err)
{
	const char **names = calloc(params->count + 1, sizeof(*names));
	const char **values = calloc(params->count + 1, sizeof(*values));

	*ret = (struct engine_params){names, values, 0};
	if (!names || !values) {
		settings_params_free(ret);
		return error_set_nomem(err);
	}
	for (size_t i = 0; i < params->count; i++) {
		const struct url_param *p = &params->items[i];

		if (strncmp(p->key, param_prefix, PARAM_PREFIX_LEN) != 0)
			continue;
		names[ret->count] = p->key + PARAM_PREFIX_LEN;
		values[ret->count++] = p->value;
	}
	return 0;
}

void settings_params_free(struct engine_params *params)
{
	free((void *)(uintptr_t)params->names);
	free((void *)(uintptr_t)params->values);
	*params = (struct engine_params){0};
}
