#include "aggregator/api/statistics/owner_clicks.h"

#include <string.h>

#include "aggregator/api/access.h"
#include "aggregator/api/statistics/whole_days.h"

static bool groups_by(const struct question *q, const char *dimension)
{
	for (size_t i = 0; i < q->group_by_count; i++) {
		if (!strcmp(q->group_by[i]->name, dimension))
			return true;
	}
	return false;
}

static bool breaks_down_by(const struct question *q, const char *dimension)
{
	for (size_t i = 0; i < q->breakdown_count; i++) {
		if (q->breakdowns[i] &&
		    !strcmp(q->breakdowns[i]->name, dimension))
			return true;
	}
	return false;
}

/* Returns whether the filter takes one value only. */
static bool takes_one(const struct filter *f)
{
	return f && !f->except && !memchr(f->values.data, '\n', f->values.len);
}

int owner_question_check(const struct question *q, const struct access *access,
			 struct error *err)
{
	bool named = takes_one(filters_find(&q->filters, "account"));

	if (filters_find(&q->filters, "owner"))
		return access_check_owner(access, named, "owner", err);
	if (groups_by(q, "owner") && !groups_by(q, "account"))
		return access_check_owner(access, named, "group_by", err);
	if (breaks_down_by(q, "owner"))
		return access_check_owner(access, named, "breakdowns", err);
	return 0;
}

/* Returns whether owners' tables can answer the question: clicks of no link
 * have no account, and are not in the tables. */
static bool is_of_tables(const struct question *q,
			 const struct access_bounds *bounds)
{
	const struct filter *account = filters_find(&q->filters, "account"),
			    *owner = filters_find(&q->filters, "owner");

	if (q->filters.count != (size_t)(account != NULL) + (owner != NULL) ||
	    (account && account->except) || (owner && owner->except) ||
	    q->group_by_count > 1)
		return false;
	if (bounds->account)
		return !account || filter_takes(account, bounds->account);
	return account && !filter_takes(account, "");
}

static void put_lines(struct buf *to, const struct buf *lines)
{
	buf_append(to, lines->data, lines->len);
}

/* Puts those of the caller's owners that the filter takes.  Returns false if
 * there are none. */
static bool put_own(struct buf *to, const struct filter *f, const char *line)
{
	bool any = false;

	while (line) {
		const char *end = strchr(line, '\n');
		struct buf name = {0};

		buf_append(&name, line,
			   end ? (size_t)(end - line) : strlen(line));
		to->failed |= !buf_cstr(&name);
		if (!to->failed && (!f || filter_takes(f, name.data))) {
			buf_puts(to, any ? "\n" : "");
			put_lines(to, &name);
			any = true;
		}
		buf_free(&name);
		line = end ? end + 1 : NULL;
	}
	return any;
}

/* Returns false if the tables cannot answer, or nobody's clicks are asked for.
 */
static bool put_names(struct owner_names *names, const struct question *q,
		      const struct access_bounds *bounds)
{
	const struct filter *account = filters_find(&q->filters, "account"),
			    *owner = filters_find(&q->filters, "owner");

	if (!is_of_tables(q, bounds))
		return false;
	if (bounds->account)
		buf_puts(&names->accounts, bounds->account);
	else
		put_lines(&names->accounts, &account->values);
	if (bounds->has_owners)
		return put_own(&names->owners, owner, bounds->owners.data);
	names->any_owner = !owner;
	if (owner)
		put_lines(&names->owners, &owner->values);
	return true;
}

static int find_names(struct owner_answer *o, const struct call *call,
		      const struct question *q, bool *ret_any,
		      struct error *err)
{
	struct access_bounds bounds;
	int status = access_bounds_fill(&bounds, call->access, err);

	*ret_any = status == 0 && put_names(&o->names, q, &bounds);
	access_bounds_release(&bounds);
	return status == 0 && (o->names.accounts.failed ||
			       o->names.owners.failed)
		       ? error_set_nomem(err)
		       : status;
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
	o->params.readings = (int64_t)q->breakdown_count;
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
	bool any = false;

	*o = (struct owner_answer){0};
	if (find_names(o, call, q, &any, err) < 0)
		return -1;
	if (!any)
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
	owner_names_release(&o->names);
}
