#include "aggregator/api/parameters.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/zone/buckets.h"
#include "common/clock.h"

#define LIMIT_DEFAULT 100

bool code_is_valid(const char *code)
{
	size_t len = strlen(code);

	for (size_t i = 0; i < len; i++) {
		if (!isalnum((unsigned char)code[i]) && code[i] != '_' &&
		    code[i] != '-')
			return false;
	}
	return len >= 1 && len <= CODE_MAX;
}

int check_path_code(const char *code, struct error *err)
{
	if (code_is_valid(code))
		return 0;
	return error_set(err, ERROR_NOTFOUND,
			 "a code is 1 to %d letters, digits, '_' or '-'",
			 CODE_MAX);
}

int parameter_check_once(const struct url_params *params,
			 const struct url_param *param, struct error *err)
{
	if (url_param_get(params, param->key) == param->value)
		return 0;
	return error_set_field(err, param->key, "given more than once");
}

int parameters_refuse_both(const char *one, const char *other,
			   struct error *err)
{
	error_set(err, ERROR_INPUT, "%s, %s: give one of them", one, other);
	return error_name_field(err, one);
}

static int refuse_name(const char *key, const char *const *known,
		       struct error *err)
{
	char list[128] = "";
	size_t n = 0;

	for (size_t i = 0; known[i] && n < sizeof(list); i++)
		n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%s",
				      i ? ", " : "", known[i]);
	return error_set_field(err, key, "no such parameter; known here: %s",
			       n ? list : "none");
}

int parameter_check_names(const struct url_params *params,
			  const char *const *known, struct error *err)
{
	for (size_t i = 0; i < params->count; i++) {
		const char *key = params->items[i].key;
		const char *const *name = known;

		while (*name && strcmp(*name, key) != 0)
			name++;
		if (!*name)
			return refuse_name(key, known, err);
		if (parameter_check_once(params, &params->items[i], err) < 0)
			return -1;
	}
	return 0;
}

int parameter_read_limit(const struct url_params *params, int64_t most,
			 size_t *ret, struct error *err)
{
	const char *text = url_param_get(params, "limit");
	char *end;
	long long n;

	if (!text) {
		*ret = (size_t)(LIMIT_DEFAULT < most ? LIMIT_DEFAULT : most);
		return 0;
	}
	errno = 0;
	n = strtoll(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || errno || n < 1 ||
	    n > most)
		return error_set_field(err, "limit",
				       "expected a number from 1 to %lld",
				       (long long)most);
	*ret = (size_t)n;
	return 0;
}

int parameter_parse_time(const char *name, const char *text, int64_t *ret_ms,
			 struct error *err)
{
	if (rfc3339_parse(text, ret_ms, err) == 0)
		return 0;
	error_wrap(err, "%s%s", name,
		   strchr(text, ' ') ? " (write '+' as %2B in a URL)" : "");
	return error_name_field(err, name);
}

int parameter_read_time(const struct url_params *params, const char *name,
			int64_t latest_ms, int latest_year, int64_t *ret_ms,
			struct error *err)
{
	const char *text = url_param_get(params, name);
	int64_t ms = -1;

	if (text && parameter_parse_time(name, text, &ms, err) < 0)
		return -1;
	if (text && (ms < 0 || ms > latest_ms))
		return error_set_field(err, name,
				       "expected a time from 1970 to %d",
				       latest_year);
	*ret_ms = ms;
	return 0;
}

int parameter_read_slot(const struct url_params *params, const char *name,
			const struct zone *zone, int64_t *ret,
			struct error *err)
{
	const char *text = url_param_get(params, name);
	int64_t ms;

	if (!text)
		return 0;
	if (parameter_parse_time(name, text, &ms, err) < 0)
		return -1;
	if (ms % (BUCKET_SLOT * 1000) != 0)
		return error_set_field(err, name,
				       "expected a multiple of 15 minutes");
	*ret = ms / 1000;
	if (strlen(text) == strlen("2026-11-21"))
		*ret = zone_from_local(zone, *ret);
	if (*ret < 0 || *ret > DATETIME_MAX)
		return error_set_field(err, name,
				       "expected a time from 1970 to 2106");
	return 0;
}

static const char *const bots_names[] = {
	[BOTS_EXCLUDE] = "exclude",
	[BOTS_INCLUDE] = "include",
	[BOTS_ONLY] = "only",
};

const char *bots_mode_name(enum bots_mode mode)
{
	return bots_names[mode];
}

int parameter_read_bots(const struct url_params *params, enum bots_mode *ret,
			struct error *err)
{
	const char *text = url_param_get(params, "bots");

	*ret = BOTS_EXCLUDE;
	for (size_t i = 0; text && i < 3; i++) {
		if (!strcmp(text, bots_names[i])) {
			*ret = (enum bots_mode)i;
			return 0;
		}
	}
	return text ? error_set_field(err, "bots",
				      "expected exclude, include or only")
		    : 0;
}

int parameter_read_flag(const struct url_params *params, const char *name,
			bool *ret, struct error *err)
{
	const char *text = url_param_get(params, name);

	*ret = text && !strcmp(text, "true");
	return !text || *ret || !strcmp(text, "false")
		       ? 0
		       : error_set_field(err, name, "expected true or false");
}
