#include "aggregator/api/statistics/shared_question.h"

#include <string.h>

#include "aggregator/api/share.h"
#include "aggregator/settle/repeats.h"
#include "aggregator/zone/civil.h"

/* The default range of question.h. */
#define DEFAULT_RANGE CIVIL_DAY

/* --- the link ------------------------------------------------------------- */

/* The code of a share stands for its link, also once another link has it. */
static int keep_link(const struct share *share, struct question *q,
		     unsigned known, struct error *err)
{
	if (!share->link_id)
		return 0;
	if (!(known & ASK_LINK))
		return error_set(err, ERROR_NOT_OWNER,
				 "this share is of one link");
	if (*q->code ? !strcmp(q->code, share->code) : !q->link_id) {
		*q->code = '\0';
		q->link_id = share->link_id;
	}
	return 0;
}

/* --- filters -------------------------------------------------------------- */

static int add_filters(const struct share *share, struct question *q,
		       unsigned known, struct error *err)
{
	const char *name;
	json_t *values;

	if (!(known & ASK_FILTER))
		return 0;
	json_object_foreach(share->filters, name, values)
	{
		const struct dimension *d = dimension_find_filter(name);
		const char *text = json_string_value(values);

		if (!d)
			return error_set(err, ERROR_NOT_OWNER,
					 "this share has a filter that is not "
					 "there any more: %.40s",
					 name);
		if (share_filter_is_bound(share, name, text))
			continue;
		if (filters_add(&q->filters, d, text, err) < 0)
			return -1;
		if (!strcmp(name, "verdict"))
			q->bots = BOTS_INCLUDE;
	}
	return 0;
}

/* --- the range ------------------------------------------------------------ */

static int64_t round_up(int64_t seconds, int64_t unit)
{
	return (seconds + unit - 1) / unit * unit;
}

static int refuse_range(int64_t from, int64_t to, struct error *err)
{
	char start[RFC3339_TEXT_MAX], end[RFC3339_TEXT_MAX];

	return error_set(err, ERROR_NOT_OWNER,
			 "from, to: this share begins at %s and ends %s%s",
			 rfc3339_format(from * 1000, start),
			 to == INT64_MAX ? "never" : "at ",
			 to == INT64_MAX ? "" : rfc3339_format(to * 1000, end));
}

/* Cuts the range to whole units that the share has; `length` is that of the
 * default range. */
static int cut_range(struct call *call, struct question *q, int64_t unit,
		     int64_t length, struct error *err)
{
	int64_t now, from, to;

	if (call_now(call, &now, err) < 0)
		return -1;
	share_range(call->access->share, now, &from, &to);
	if (q->to > to) {
		q->to = to / unit * unit;
		if (!q->has_from && q->to > length)
			q->from = bucket_start(q->zone, q->interval,
					       q->to - length);
	}
	if (q->from < from)
		q->from = round_up(from, unit);
	if (q->from >= q->to)
		return refuse_range(from, to, err);
	q->earliest =
		repeats_earliest(&call->config->aggregator.clicks, q->from);
	return 0;
}

/* -------------------------------------------------------------------------- */

static int parse_text(struct question *q, struct call *call, unsigned known,
		      struct error *err)
{
	const struct share *share = call->access->share;
	unsigned of_link = known | (*call->code ? ASK_LINK : 0);

	if (question_parse(q, call->query, known, &call->config->aggregator,
			   call_now, call, err) < 0)
		return -1;
	if (*call->code) {
		if (check_path_code(call->code, err) < 0)
			return -1;
		strcpy(q->code, call->code);
	}
	if (!share)
		return 0;
	if (keep_link(share, q, of_link, err) < 0)
		return -1;
	return add_filters(share, q, known, err);
}

int shared_question_parse(struct question *q, struct call *call, unsigned known,
			  struct error *err)
{
	if (parse_text(q, call, known, err) < 0)
		return -1;
	return call->access->share && (known & ASK_RANGE)
		       ? cut_range(call, q, 1, DEFAULT_RANGE, err)
		       : 0;
}

int shared_question_parse_days(struct question *q, struct call *call,
			       unsigned known, int64_t days, struct error *err)
{
	if (parse_text(q, call, known, err) < 0 ||
	    question_take_whole(q, CIVIL_DAY, days, err) < 0)
		return -1;
	return call->access->share
		       ? cut_range(call, q, CIVIL_DAY, days * CIVIL_DAY, err)
		       : 0;
}

int shared_question_check_range(struct call *call, int64_t from, int64_t to,
				struct error *err)
{
	int64_t now, first, last;

	if (!call->access->share)
		return 0;
	if (call_now(call, &now, err) < 0)
		return -1;
	share_range(call->access->share, now, &first, &last);
	return from < first || to > last ? refuse_range(first, last, err) : 0;
}

int shared_question_check_link(const struct call *call, struct error *err)
{
	const struct share *share = call->access->share;

	if (!share || share->link_id)
		return 0;
	return error_set(
		err, ERROR_NOT_OWNER,
		"this is about all visits of a link, and the share has "
		"filters");
}

int shared_question_check_whole(const struct call *call, struct error *err)
{
	const struct share *share = call->access->share;

	if (shared_question_check_link(call, err) < 0)
		return -1;
	if (!share || !share_has_range(share))
		return 0;
	return error_set(err, ERROR_NOT_OWNER,
			 "this is about all time, and the share has a range");
}
