#include "aggregator/api/statistics/owner_clicks.h"

#include <string.h>

#include "aggregator/api/access.h"
#include "aggregator/api/statistics/whole_days.h"

/* Returns the filter by owner, if it is the only filter. */
static const struct filter *owner_filter(const struct question *q)
{
	const struct filter *f = q->filters.items;

	return q->filters.count == 1 && !strcmp(f->dimension->name, "owner")
		       ? f
		       : NULL;
}

/* Returns whether owners' tables can answer the question.  Clicks of no link
 * have no owner, and are not in the tables. */
static bool is_of_tables(const struct question *q)
{
	const struct filter *f = owner_filter(q);

	if (q->filters.count && (!f || f->except || filter_takes(f, "")))
		return false;
	return q->group_by_count <= 1;
}

static void put_name(struct owner_answer *o, const char *name, size_t len)
{
	if (o->owners++)
		buf_putc(&o->names, '\n');
	buf_append(&o->names, name, len);
}

/* Adds those of the caller's owners (one per line) that the filter takes. */
static int put_own(struct owner_answer *o, const struct filter *f,
		   const char *line, struct error *err)
{
	while (line) {
		const char *end = strchr(line, '\n');
		struct buf name = {0};

		buf_append(&name, line,
			   end ? (size_t)(end - line) : strlen(line));
		if (!buf_cstr(&name))
			return error_set_nomem(err);
		if (!f || filter_takes(f, name.data))
			put_name(o, name.data, name.len);
		buf_free(&name);
		line = end ? end + 1 : NULL;
	}
	return 0;
}

static int put_names(struct owner_answer *o, const struct call *call,
		     const struct question *q, struct error *err)
{
	const struct filter *f = owner_filter(q);
	struct access_bounds bounds;
	int status = access_bounds_fill(&bounds, call->access, err);

	if (status == 0 && bounds.has_owners)
		status = put_own(o, f, bounds.owners.data, err);
	else if (status == 0 && f)
		put_name(o, f->values.data, f->values.len);
	access_bounds_release(&bounds);
	return status == 0 && o->names.failed ? error_set_nomem(err) : status;
}

/* Reads the days that are copied.  For groups by a dimension that hours do not
 * have, the values of these days have to be copied, too. */
static int read_days(struct owner_answer *o, struct call *call,
		     const struct question *q, struct error *err)
{
	if (freshness_days(call->freshness, COPIED_OWNERS, call->ch, q->from,
			   q->to, &o->days, err) < 0)
		return -1;
	if (!question_groups_daily(q))
		return 0;
	if (freshness_days(call->freshness, COPIED_VALUES, call->ch, q->from,
			   q->to, &o->valued, err) < 0)
		return -1;
	if (o->days.days_from < o->valued.days_from)
		o->days.days_from = o->valued.days_from;
	copied_days_keep_common(&o->days, &o->valued);
	return 0;
}

static int fill_params(struct owner_answer *o, const struct call *call,
		       const struct question *q, struct error *err)
{
	bool valued = question_groups_daily(q);

	question_params_fill(&o->params, q, 0, 0);
	copied_days_keep_common(&o->valued, &o->days);
	if (copied_days_put(&o->days, &o->starts, &o->attempts, err) < 0 ||
	    copied_days_put(&o->valued, &o->valued_starts, &o->valued_attempts,
			    err) < 0 ||
	    question_params_owners(&o->params, call, &o->names, INT64_MAX,
				   err) < 0)
		return -1;
	question_params_add(&o->params, "param_days", o->starts.data);
	question_params_add(&o->params, "param_attempts", o->attempts.data);
	question_params_add(&o->params, "param_value_attempts",
			    valued ? o->valued_attempts.data
				   : o->attempts.data);
	return 0;
}

int owner_answer_prepare(struct owner_answer *o, struct call *call,
			 const struct question *q, bool whole, int64_t at,
			 struct error *err)
{
	*o = (struct owner_answer){0};
	if (!is_of_tables(q))
		return 0;
	if (put_names(o, call, q, err) < 0)
		return -1;
	if (!o->owners)
		return 0;
	if (read_days(o, call, q, err) < 0)
		return -1;
	if (q->from < o->days.days_from) {
		o->days.count = 0;
		return call_check_rows(call, q->from, err);
	}
	if (whole &&
	    whole_days_keep(&o->days, q, at,
			    "counts of owners by one dimension", err) < 0)
		return -1;
	return o->days.count ? fill_params(o, call, q, err) : 0;
}

void owner_answer_release(struct owner_answer *o)
{
	copied_days_release(&o->days);
	copied_days_release(&o->valued);
	question_params_release(&o->params);
	buf_free(&o->starts);
	buf_free(&o->attempts);
	buf_free(&o->valued_starts);
	buf_free(&o->valued_attempts);
	buf_free(&o->names);
}
