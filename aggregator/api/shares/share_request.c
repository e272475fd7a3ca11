#include "aggregator/api/shares/share_request.h"

#include <ctype.h>
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/api/statistics/filter.h"
#include "aggregator/dimension.h"

/* Ranges are cut like those of /v1/clicks. */
#define QUARTER INT64_C(900)

static int expect_value(const char *name, const char *what, struct error *err)
{
	return error_set_field(err, name, "expected %s", what);
}

/* Reads a part of the body.  ERROR_INPUT is a mistake in the member that it
 * names; other parts are read all the same. */
typedef int part_fn(const json_t *body, int64_t now, struct share_request *to,
		    struct error *err);

/* Keeps a mistake.  Returns -1 for any other error. */
static int keep_mistake(struct share_request *to, const struct error *why,
			struct error *err)
{
	if (why->code == ERROR_INPUT) {
		field_mistakes_add(&to->mistakes, why->field, why);
		return 0;
	}
	*err = *why;
	return -1;
}

static void check_members(json_t *body, struct share_request *to)
{
	static const char *const known[] = {
		"code",	     "link_id",	   "filters",  "from", "to",
		"last_days", "expires_at", "password", NULL};
	const char *const *at;
	struct error why = {0};
	const char *name;
	json_t *value;

	json_object_foreach(body, name, value)
	{
		for (at = known; *at && strcmp(*at, name) != 0; at++)
			;
		if (*at)
			continue;
		error_set_field(&why, name,
				"no such member; known here: code, link_id, "
				"filters, from, to, last_days, expires_at, "
				"password");
		field_mistakes_add(&to->mistakes, why.field, &why);
	}
}

/* Returns 1 if the member is there, as a text, 0 if it is not. */
static int take_text(const json_t *body, const char *name, const char **ret,
		     struct error *err)
{
	const json_t *value = json_object_get(body, name);

	*ret = NULL;
	if (!value || json_is_null(value))
		return 0;
	*ret = json_string_value(value);
	return *ret ? 1 : expect_value(name, "a text", err);
}

/* --- the link, or the filters --------------------------------------------- */

static int read_code(const json_t *body, int64_t now, struct share_request *to,
		     struct error *err)
{
	const char *code;

	(void)now;
	if (take_text(body, "code", &code, err) < 0)
		return -1;
	if (code && !code_is_valid(code))
		return expect_value("code",
				    "1 to 64 letters, digits, '_' or '-'", err);
	if (code)
		strcpy(to->share.code, code);
	return 0;
}

static int read_link_id(const json_t *body, int64_t now,
			struct share_request *to, struct error *err)
{
	uint64_t *ret = &to->share.link_id;
	const char *id;
	char *end;

	(void)now;
	if (take_text(body, "link_id", &id, err) < 0)
		return -1;
	if (!id)
		return 0;
	errno = 0;
	*ret = strtoull(id, &end, 10);
	if (!isdigit((unsigned char)*id) || *end || errno || !*ret)
		return expect_value("link_id",
				    "a positive whole number, as a text", err);
	return 0;
}

/* Names the filter in the error: `filters.country`. */
static int name_filter(const char *name, struct error *err)
{
	char member[sizeof(err->field)];

	snprintf(member, sizeof(member), "filters.%s", name);
	return error_name_field(err, member);
}

static int check_filter(const char *name, const json_t *values,
			struct error *err)
{
	const struct dimension *d = dimension_find_filter(name);
	const char *text = json_string_value(values);
	struct filters one = {0};
	int status = -1;

	if (!d)
		error_set(err, ERROR_INPUT,
			  "filters: %.40s is no dimension to filter by", name);
	else if (!text)
		error_set(err, ERROR_INPUT,
			  "filters: %s: expected a text of values, as in a "
			  "query",
			  name);
	else if (filters_add(&one, d, text, err) < 0)
		error_wrap(err, "filters");
	else
		status = 0;
	filters_release(&one);
	return status < 0 ? name_filter(name, err) : 0;
}

/* Keeps the mistake of each filter by itself. */
static int check_filters(json_t *filters, struct share_request *to,
			 struct error *err)
{
	const char *name;
	json_t *values;

	json_object_foreach(filters, name, values)
	{
		struct error why = {0};

		if (check_filter(name, values, &why) < 0 &&
		    keep_mistake(to, &why, err) < 0)
			return -1;
	}
	return 0;
}

static int read_filters(const json_t *body, int64_t now,
			struct share_request *to, struct error *err)
{
	json_t *filters = json_object_get(body, "filters");

	(void)now;
	to->share.filters = json_object();
	if (!to->share.filters)
		return error_set_nomem(err);
	if (!filters || json_is_null(filters))
		return 0;
	if (!json_is_object(filters) ||
	    json_object_size(filters) > SHARE_FILTERS_MAX)
		return expect_value("filters",
				    "an object of up to 8 dimensions", err);
	json_decref(to->share.filters);
	to->share.filters = json_incref(filters);
	return check_filters(filters, to, err);
}

static bool is_given(const json_t *body, const char *name)
{
	const json_t *value = json_object_get(body, name);

	return value && !json_is_null(value);
}

static int check_subject(const json_t *body, int64_t now,
			 struct share_request *to, struct error *err)
{
	int given = is_given(body, "code") + is_given(body, "link_id") +
		    is_given(body, "filters");

	(void)now;
	(void)to;
	if (given == 1)
		return 0;
	error_set(err, ERROR_INPUT,
		  "code, link_id, filters: give one of them ({} are filters "
		  "that take everything)");
	return error_name_field(err, "code");
}

/* --- the range and the end ------------------------------------------------ */

static int read_bound(const json_t *body, const char *name, int64_t *ret,
		      struct error *err)
{
	const char *text;
	int64_t ms = 0;

	*ret = -1;
	if (take_text(body, name, &text, err) < 0)
		return -1;
	if (!text)
		return 0;
	if (parameter_parse_time(name, text, &ms, err) < 0)
		return -1;
	if (ms < 0 || ms % (QUARTER * 1000) != 0 || ms / 1000 > DATETIME_MAX)
		return expect_value(
			name,
			"a time from 1970 to 2106, a multiple of 15 "
			"minutes",
			err);
	*ret = ms / 1000;
	return 0;
}

static int read_from(const json_t *body, int64_t now, struct share_request *to,
		     struct error *err)
{
	(void)now;
	return read_bound(body, "from", &to->share.from, err);
}

/* Comes after read_from. */
static int read_to(const json_t *body, int64_t now, struct share_request *to,
		   struct error *err)
{
	struct share *share = &to->share;

	(void)now;
	if (read_bound(body, "to", &share->to, err) < 0)
		return -1;
	if (share->from >= 0 && share->to >= 0 && share->from >= share->to)
		return expect_value("from", "a time before `to`", err);
	return 0;
}

static int read_last_days(const json_t *body, int64_t now,
			  struct share_request *to, struct error *err)
{
	const json_t *days = json_object_get(body, "last_days");

	(void)now;
	if (!is_given(body, "last_days"))
		return 0;
	if (!json_is_integer(days) || json_integer_value(days) < 1 ||
	    json_integer_value(days) > SHARE_DAYS_MAX)
		return expect_value("last_days", "a number from 1 to 3660",
				    err);
	to->share.last_days = json_integer_value(days);
	if (is_given(body, "from") || is_given(body, "to"))
		return error_set_field(err, "last_days",
				       "give either this, or from and to");
	return 0;
}

static int read_end(const json_t *body, int64_t now, struct share_request *to,
		    struct error *err)
{
	int64_t *ret = &to->share.expires_at;
	const char *text;

	if (take_text(body, "expires_at", &text, err) < 0)
		return -1;
	if (!text)
		return 0;
	if (parameter_parse_time("expires_at", text, ret, err) < 0)
		return -1;
	if (*ret <= now || *ret / 1000 > DATETIME_MAX)
		return expect_value("expires_at", "a time from now on to 2106",
				    err);
	return 0;
}

static int read_password(const json_t *body, int64_t now,
			 struct share_request *to, struct error *err)
{
	const char *text;

	(void)now;
	if (take_text(body, "password", &text, err) < 0)
		return -1;
	if (!text)
		return 0;
	if (strlen(text) < SHARE_PASSWORD_MIN ||
	    strlen(text) > SHARE_PASSWORD_MAX)
		return expect_value("password", "8 to 128 bytes", err);
	strcpy(to->password, text);
	return 0;
}

/* -------------------------------------------------------------------------- */

static part_fn *const parts[] = {
	read_code, read_link_id,   read_filters, check_subject, read_from,
	read_to,   read_last_days, read_end,	 read_password,
};

static int read_parts(const json_t *body, int64_t now, struct share_request *to,
		      struct error *err)
{
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct error why = {0};

		if (parts[i](body, now, to, &why) < 0 &&
		    keep_mistake(to, &why, err) < 0)
			return -1;
	}
	return field_mistakes_result(&to->mistakes, err);
}

int share_request_parse(struct share_request *ret, struct http_slice body,
			int64_t now, struct error *err)
{
	json_t *members;
	int status;

	*ret = (struct share_request){0};
	if (body.len > SHARE_BODY_MAX)
		return error_set(err, ERROR_INPUT,
				 "the body: expected at most %d bytes",
				 SHARE_BODY_MAX);
	members = json_loadb(body.len ? body.data : "", body.len,
			     JSON_REJECT_DUPLICATES, NULL);
	if (json_is_object(members)) {
		check_members(members, ret);
		status = read_parts(members, now, ret, err);
	} else {
		status = error_set(err, ERROR_INPUT,
				   "the body: expected a JSON object without a "
				   "member twice");
	}
	json_decref(members);
	return status;
}

void share_request_release(struct share_request *r)
{
	share_release(&r->share);
	field_mistakes_release(&r->mistakes);
	sodium_memzero(r->password, sizeof(r->password));
}
