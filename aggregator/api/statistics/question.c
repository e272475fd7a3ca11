#include "aggregator/api/statistics/question.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/api/parameters.h"
#include "aggregator/settle/repeats.h"
#include "aggregator/zone/civil.h"
#include "common/http/url.h"

struct question_reader {
	struct question *q;
	const struct url_params *params;
	unsigned known;
	const struct aggregator_settings *settings;
	question_now *now;
	void *arg;
};

/* The parameters and the routes that know them. */
static const struct parameter {
	const char *name;
	unsigned asks;
} parameters[] = {
	{"code", ASK_LINK},
	{"link_id", ASK_LINK},
	{"from", ASK_RANGE},
	{"to", ASK_RANGE},
	{"tz", ASK_RANGE},
	{"interval", ASK_INTERVAL},
	{"group_by", ASK_GROUP},
	{"limit", ASK_GROUP | ASK_LIMIT},
	{"bots", ASK_BOTS},
	{"format", ASK_FORMAT},
	{"account", ASK_LIVE},
	{"owner", ASK_LIVE},
	{"domain", ASK_LIVE},
	{"country", ASK_LIVE},
	{"verdict", ASK_LIVE},
	{"sort", ASK_SORT},
	{"breakdowns", ASK_PAGE},
	{"compare", ASK_PAGE},
	{"compare_groups", ASK_PAGE},
	{"period", ASK_PERIOD},
};
#define PARAMETER_COUNT (sizeof(parameters) / sizeof(parameters[0]))

static const struct dimension *find_filter(unsigned known, const char *name)
{
	if (known & ASK_CREATIONS)
		return creation_dimension_find(name);
	return dimension_find_filter(name);
}

static int unknown_parameter(const char *key, unsigned known, struct error *err)
{
	char list[256] = "";
	size_t n = 0;

	for (size_t i = 0; i < PARAMETER_COUNT; i++) {
		if (parameters[i].asks & known)
			n += (size_t)snprintf(list + n, sizeof(list) - n,
					      "%s%s", n ? ", " : "",
					      parameters[i].name);
	}
	return error_set_field(
		err, key, "no such parameter; known here: %s%s",
		n ? list : "none",
		known & ASK_FILTER ? ", and dimensions to filter by" : "");
}

static int check_names(const struct url_params *params, unsigned known,
		       struct error *err)
{
	for (size_t i = 0; i < params->count; i++) {
		const char *key = params->items[i].key;
		size_t p = 0;

		while (p < PARAMETER_COUNT &&
		       (strcmp(parameters[p].name, key) != 0 ||
			!(parameters[p].asks & known)))
			p++;
		if (p == PARAMETER_COUNT &&
		    !((known & ASK_FILTER) && find_filter(known, key)))
			return unknown_parameter(key, known, err);
		if (parameter_check_once(params, &params->items[i], err) < 0)
			return -1;
	}
	return 0;
}

static int read_link(struct question_reader *r, struct error *err)
{
	const char *code = url_param_get(r->params, "code");
	const char *id = url_param_get(r->params, "link_id");
	char *end;

	if (code && id)
		return parameters_refuse_both("code", "link_id", err);
	if (code && !code_is_valid(code))
		return error_set_field(err, "code",
				       "expected 1 to %d letters, digits, '_' "
				       "or '-'",
				       CODE_MAX);
	if (code)
		strcpy(r->q->code, code);
	if (!id)
		return 0;
	errno = 0;
	r->q->link_id = strtoull(id, &end, 10);
	if (!isdigit((unsigned char)*id) || *end || errno || !r->q->link_id)
		return error_set_field(err, "link_id",
				       "expected a positive whole number");
	return 0;
}

static int read_zone(struct question_reader *r, struct error *err)
{
	const char *name = url_param_get(r->params, "tz");

	r->q->zone = zone_load(r->settings->zoneinfo, name ? name : "UTC", err);
	return r->q->zone ? 0 : error_wrap_field(err, "tz");
}

/* Reads the default end: that of the present quarter of an hour. */
static int read_end(struct question_reader *r, int64_t *ret, struct error *err)
{
	int64_t now_ms;

	if (r->now(r->arg, &now_ms, err) < 0)
		return -1;
	*ret = (now_ms / 1000 / BUCKET_SLOT + 1) * BUCKET_SLOT;
	return 0;
}

/* Reads a range by its name, which ends with the present quarter of an hour. */
static int read_period(struct question_reader *r, const char *text,
		       struct error *err)
{
	struct question *q = r->q;

	if (url_param_get(r->params, "from") || url_param_get(r->params, "to"))
		return error_set_field(err, "period",
				       "give it, or from and to");
	if (!period_parse(text, &q->period))
		return error_set_field(err, "period",
				       "expected today, 7d, 30d, month, year "
				       "or all");
	if (read_end(r, &q->to, err) < 0)
		return -1;
	q->has_from = q->has_to = true;
	question_begin(q, r->settings, period_start(q->zone, q->period, q->to));
	return 0;
}

/* Reads the range.  By default it has the last 24 hours, from the start of an
 * interval on. */
static int read_range(struct question_reader *r, struct error *err)
{
	const char *period = url_param_get(r->params, "period");
	struct question *q = r->q;

	if (period)
		return read_period(r, period, err);
	q->from = q->to = -1;
	if (parameter_read_slot(r->params, "to", q->zone, &q->to, err) < 0 ||
	    parameter_read_slot(r->params, "from", q->zone, &q->from, err) < 0)
		return -1;
	q->has_from = q->from >= 0;
	q->has_to = q->to >= 0;
	if (!q->has_to && read_end(r, &q->to, err) < 0)
		return -1;
	if (q->from < 0)
		q->from = bucket_start(q->zone, q->interval, q->to - 86400);
	if (q->from < 0)
		q->from = 0;
	if (q->from >= q->to)
		return error_set_field(err, "from",
				       "expected a time before `to`");
	return 0;
}

int question_take_whole(struct question *q, int64_t unit, int64_t units,
			struct error *err)
{
	if (!q->has_to)
		q->to = (q->to + unit - 1) / unit * unit;
	if (!q->has_from)
		q->from = q->to > units * unit ? q->to - units * unit : 0;
	if (q->from % unit == 0 && q->to % unit == 0)
		return 0;
	return error_set_field(err, q->to % unit ? "to" : "from",
			       "expected the start of %s of UTC",
			       unit == CIVIL_DAY ? "a day" : "an hour");
}

static int read_interval(struct question_reader *r, struct error *err)
{
	const char *text = url_param_get(r->params, "interval");

	r->q->interval = BUCKET_HOUR;
	r->q->has_interval = text != NULL;
	if (text && (r->known & ASK_CREATIONS) && !strcmp(text, "total")) {
		r->q->whole = true;
		return 0;
	}
	if (text && !bucket_interval_parse(text, &r->q->interval))
		return error_set_field(
			err, "interval", "expected 15m, hour, day, week%s",
			r->known & ASK_CREATIONS ? ", month or total"
						 : " or month");
	return 0;
}

static int unknown_dimension(const struct question_reader *r, const char *name,
			     const char *number, struct error *err)
{
	bool creations = r->known & ASK_CREATIONS;
	const struct dimension *all =
		creations ? creation_dimensions : dimensions + 1;
	size_t count =
		creations ? creation_dimension_count : dimension_count - 1;
	char list[sizeof(err->text)] = "";
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%s",
				      n ? ", " : "", all[i].name);
	return error_set_field(err, name, "expected %s of %s", number, list);
}

static const struct dimension *find_group(const struct question_reader *r,
					  const char *name)
{
	return r->known & ASK_CREATIONS ? creation_dimension_find(name)
					: dimension_find(name);
}

/* Reads the name up to the next comma, and advances *text beyond it, or sets it
 * to NULL at the end. */
static const struct dimension *next_group(const struct question_reader *r,
					  const char **text)
{
	size_t len = strcspn(*text, ",");
	char name[32];

	snprintf(name, sizeof(name), "%.*s", (int)len, *text);
	*text = (*text)[len] ? *text + len + 1 : NULL;
	return len < sizeof(name) ? find_group(r, name) : NULL;
}

/* Reads one dimension, or two with a comma between. */
static int read_group(struct question_reader *r, struct error *err)
{
	const char *text = url_param_get(r->params, "group_by");
	bool creations = r->known & ASK_CREATIONS;
	struct question *q = r->q;

	while (text) {
		const struct dimension *d;

		if (q->group_by_count == GROUPS_BY_MAX)
			return error_set_field(err, "group_by",
					       "expected at most %d "
					       "dimensions",
					       GROUPS_BY_MAX);
		d = next_group(r, &text);
		if (!d || (q->group_by_count && creations))
			return unknown_dimension(
				r, "group_by", creations ? "one" : "one or two",
				err);
		if (q->group_by_count && d == q->group_by[0])
			return error_set_field(err, "group_by",
					       "expected two different "
					       "dimensions");
		q->group_by[q->group_by_count++] = d;
	}
	return 0;
}

static bool has_breakdown(const struct question *q, const struct dimension *d)
{
	for (size_t i = 0; i < q->breakdown_count; i++) {
		if (q->breakdowns[i] == d)
			return true;
	}
	return false;
}

static int read_breakdowns(struct question_reader *r, struct error *err)
{
	const char *text = url_param_get(r->params, "breakdowns");
	struct question *q = r->q;

	if (text && q->group_by_count)
		return parameters_refuse_both("breakdowns", "group_by", err);
	while (text) {
		const struct dimension *d = next_group(r, &text);

		if (!d)
			return unknown_dimension(r, "breakdowns", "some", err);
		if (has_breakdown(q, d))
			return error_set_field(err, "breakdowns",
					       "expected each dimension "
					       "once, and found %s twice",
					       d->name);
		if (q->breakdown_count == BREAKDOWNS_MAX)
			return error_set_field(err, "breakdowns",
					       "expected at most %d "
					       "dimensions",
					       BREAKDOWNS_MAX);
		q->breakdowns[q->breakdown_count++] = d;
	}
	return 0;
}

static int read_compare(struct question_reader *r, struct error *err)
{
	const char *text = url_param_get(r->params, "compare");

	if (!text)
		return 0;
	if (!comparison_parse(text, &r->q->compare))
		return error_set_field(err, "compare",
				       "expected previous or year");
	if (r->q->period == PERIOD_ALL)
		return error_set_field(err, "compare",
				       "nothing is before period=all");
	return 0;
}

static int read_compare_groups(struct question_reader *r, struct error *err)
{
	struct question *q = r->q;

	if (parameter_read_flag(r->params, "compare_groups", &q->compare_groups,
				err) < 0)
		return -1;
	if (q->compare_groups && (!q->compare || !question_has_groups(q)))
		return error_set_field(err, "compare_groups",
				       "compare, and group_by or breakdowns "
				       "are needed beside it");
	return 0;
}

static int read_format(struct question_reader *r, struct error *err)
{
	const char *text = url_param_get(r->params, "format");

	r->q->csv = text && !strcmp(text, "csv");
	if (text && !r->q->csv && strcmp(text, "json") != 0)
		return error_set_field(err, "format", "expected json or csv");
	if (r->q->csv && r->q->breakdown_count)
		return error_set_field(err, "format",
				       "a CSV has no breakdowns");
	if (r->q->csv && r->q->compare)
		return error_set_field(err, "format",
				       "a CSV has no comparison");
	return 0;
}

static int read_sort(struct question_reader *r, struct error *err)
{
	const char *text = url_param_get(r->params, "sort");

	r->q->by_growth = text && !strcmp(text, "growth");
	if (text && !r->q->by_growth && strcmp(text, "clicks") != 0)
		return error_set_field(err, "sort",
				       "expected clicks or growth");
	return 0;
}

/* check_names has verified that each parameter is known here. */
static int read_filters(struct question_reader *r, struct error *err)
{
	const struct url_params *params = r->params;

	for (size_t i = 0; i < params->count; i++) {
		const struct dimension *d =
			find_filter(r->known, params->items[i].key);

		if (d && filters_add(&r->q->filters, d, params->items[i].value,
				     err) < 0)
			return -1;
	}
	if (!url_param_get(params, "verdict"))
		return 0;
	if (url_param_get(params, "bots"))
		return parameters_refuse_both("bots", "verdict", err);
	r->q->bots = BOTS_INCLUDE;
	return 0;
}

int question_parse(struct question *q, struct http_slice query, unsigned known,
		   const struct aggregator_settings *settings,
		   question_now *now, void *arg, struct error *err)
{
	struct url_params params = {0};
	struct question_reader r = {q, &params, known, settings, now, arg};
	int status = -1;

	*q = (struct question){0};
	if (url_params_parse(&params, query, err) < 0)
		goto out;
	/* The order matters: a range needs its zone and interval. */
	if (check_names(&params, known, err) < 0 || read_link(&r, err) < 0 ||
	    read_interval(&r, err) < 0 || read_zone(&r, err) < 0 ||
	    ((known & ASK_RANGE) && read_range(&r, err) < 0) ||
	    read_group(&r, err) < 0 || read_breakdowns(&r, err) < 0 ||
	    read_compare(&r, err) < 0 || read_compare_groups(&r, err) < 0 ||
	    parameter_read_bots(&params, &q->bots, err) < 0 ||
	    read_filters(&r, err) < 0 || read_format(&r, err) < 0 ||
	    read_sort(&r, err) < 0 ||
	    parameter_read_limit(&params, settings->groups_max, &q->limit,
				 err) < 0)
		goto out;
	q->earliest = repeats_earliest(&settings->clicks, q->from);
	status = 0;
out:
	url_params_free(&params);
	return status;
}

void question_begin(struct question *q,
		    const struct aggregator_settings *settings, int64_t from)
{
	q->from = from;
	q->earliest = repeats_earliest(&settings->clicks, from);
	if (q->period && !q->has_interval)
		q->interval = period_interval(from, q->to);
}

const struct dimension *const *question_singles(const struct question *q,
						size_t *ret_count)
{
	bool one = q->group_by_count == 1;

	*ret_count = one ? 1 : q->breakdown_count;
	return one ? q->group_by : q->breakdowns;
}

bool question_has_groups(const struct question *q)
{
	return q->group_by_count || q->breakdown_count;
}

static bool has_single(const struct question *q, enum dimension_kind kind)
{
	size_t count;
	const struct dimension *const *singles = question_singles(q, &count);

	for (size_t i = 0; i < count; i++) {
		if (singles[i] && singles[i]->kind == kind)
			return true;
	}
	return false;
}

bool question_groups_daily(const struct question *q)
{
	return has_single(q, DIMENSION_DAILY);
}

bool question_groups_many(const struct question *q)
{
	for (size_t i = 0; i < q->group_by_count; i++)
		if (q->group_by[i]->kind == DIMENSION_MANY)
			return true;
	return has_single(q, DIMENSION_MANY);
}

bool question_groups_urls(const struct question *q)
{
	for (size_t i = 0; i < q->group_by_count; i++)
		if (dimension_is_url(q->group_by[i]))
			return true;
	return false;
}

void question_release(struct question *q)
{
	zone_free(q->zone);
	q->zone = NULL;
	filters_release(&q->filters);
}
