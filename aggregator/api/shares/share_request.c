#include "aggregator/api/shares/share_request.h"

#include <ctype.h>
#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/api/statistics/filter.h"
#include "aggregator/dimension.h"

/* Ranges are cut like those of /v1/clicks. */
#define QUARTER INT64_C(900)

static int expect_value(const char *name, const char *what, struct error *err)
{
	return error_set(err, ERROR_INPUT, "%.40s: expected %s", name, what);
}

static int check_members(json_t *body, struct error *err)
{
	static const char *const known[] = {
		"code",	     "link_id",	   "filters",  "from", "to",
		"last_days", "expires_at", "password", NULL};
	const char *const *at;
	const char *name;
	json_t *value;

	json_object_foreach(body, name, value)
	{
		for (at = known; *at && strcmp(*at, name) != 0; at++)
			;
		if (!*at)
			return error_set(err, ERROR_INPUT,
					 "%.40s: no such member; known here: "
					 "code, link_id, filters, from, to, "
					 "last_days, expires_at, password",
					 name);
	}
	return 0;
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

static int read_link(const json_t *body, struct share *to, struct error *err)
{
	const char *code, *id;
	char *end;

	if (take_text(body, "code", &code, err) < 0 ||
	    take_text(body, "link_id", &id, err) < 0)
		return -1;
	if (code && !code_is_valid(code))
		return expect_value("code",
				    "1 to 64 letters, digits, '_' or '-'", err);
	if (code)
		strcpy(to->code, code);
	if (!id)
		return 0;
	errno = 0;
	to->link_id = strtoull(id, &end, 10);
	if (!isdigit((unsigned char)*id) || *end || errno || !to->link_id)
		return expect_value("link_id",
				    "a positive whole number, as a text", err);
	return 0;
}

static int check_filter(const char *name, const json_t *values,
			struct error *err)
{
	const struct dimension *d = dimension_find_filter(name);
	const char *text = json_string_value(values);
	struct filters one = {0};
	int status;

	if (!d)
		return error_set(err, ERROR_INPUT,
				 "filters: %.40s is no dimension to filter by",
				 name);
	if (!text)
		return error_set(err, ERROR_INPUT,
				 "filters: %s: expected a text of values, as "
				 "in a query",
				 name);
	status = filters_add(&one, d, text, err);
	filters_release(&one);
	return status < 0 ? error_wrap(err, "filters") : 0;
}

static int read_filters(const json_t *body, struct share *to, struct error *err)
{
	json_t *filters = json_object_get(body, "filters"), *values;
	const char *name;

	to->filters = json_object();
	if (!to->filters)
		return error_set_nomem(err);
	if (!filters || json_is_null(filters))
		return 0;
	if (!json_is_object(filters) ||
	    json_object_size(filters) > SHARE_FILTERS_MAX)
		return expect_value("filters",
				    "an object of up to 8 dimensions", err);
	json_object_foreach(filters, name, values)
	{
		if (check_filter(name, values, err) < 0)
			return -1;
	}
	json_decref(to->filters);
	to->filters = json_incref(filters);
	return 0;
}

static int check_subject(const json_t *body, const struct share *share,
			 struct error *err)
{
	const json_t *filters = json_object_get(body, "filters");
	int given = (*share->code != '\0') + (share->link_id != 0) +
		    json_is_object(filters);

	if (given == 1)
		return 0;
	return error_set(err, ERROR_INPUT,
			 "code, link_id, filters: give one of them ({} are "
			 "filters that take everything)");
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

static int read_range(const json_t *body, struct share *to, struct error *err)
{
	const json_t *days = json_object_get(body, "last_days");

	if (read_bound(body, "from", &to->from, err) < 0 ||
	    read_bound(body, "to", &to->to, err) < 0)
		return -1;
	if (to->from >= 0 && to->to >= 0 && to->from >= to->to)
		return expect_value("from", "a time before `to`", err);
	if (!days || json_is_null(days))
		return 0;
	if (!json_is_integer(days) || json_integer_value(days) < 1 ||
	    json_integer_value(days) > SHARE_DAYS_MAX)
		return expect_value("last_days", "a number from 1 to 3660",
				    err);
	to->last_days = json_integer_value(days);
	if (to->from >= 0 || to->to >= 0)
		return error_set(err, ERROR_INPUT,
				 "last_days: give either this, or from and to");
	return 0;
}

static int read_end(const json_t *body, int64_t now, struct share *to,
		    struct error *err)
{
	const char *text;

	if (take_text(body, "expires_at", &text, err) < 0)
		return -1;
	if (!text)
		return 0;
	if (parameter_parse_time("expires_at", text, &to->expires_at, err) < 0)
		return -1;
	if (to->expires_at <= now || to->expires_at / 1000 > DATETIME_MAX)
		return expect_value("expires_at", "a time from now on to 2106",
				    err);
	return 0;
}

static int read_password(const json_t *body, struct share_request *to,
			 struct error *err)
{
	const char *text;

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

int share_request_parse(struct share_request *ret, struct http_slice body,
			int64_t now, struct error *err)
{
	json_t *members;
	int status = -1;

	*ret = (struct share_request){0};
	if (body.len > SHARE_BODY_MAX)
		return error_set(err, ERROR_INPUT,
				 "the body: expected at most %d bytes",
				 SHARE_BODY_MAX);
	members = json_loadb(body.len ? body.data : "", body.len,
			     JSON_REJECT_DUPLICATES, NULL);
	if (!json_is_object(members))
		error_set(err, ERROR_INPUT,
			  "the body: expected a JSON object without a member "
			  "twice");
	else if (check_members(members, err) == 0 &&
		 read_link(members, &ret->share, err) == 0 &&
		 read_filters(members, &ret->share, err) == 0 &&
		 check_subject(members, &ret->share, err) == 0 &&
		 read_range(members, &ret->share, err) == 0 &&
		 read_end(members, now, &ret->share, err) == 0 &&
		 read_password(members, ret, err) == 0)
		status = 0;
	json_decref(members);
	return status;
}

void share_request_release(struct share_request *r)
{
	share_release(&r->share);
	sodium_memzero(r->password, sizeof(r->password));
}
