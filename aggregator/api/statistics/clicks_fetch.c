#include "aggregator/api/statistics/clicks_fetch.h"

#include <stdlib.h>

#include "aggregator/api/statistics/answer_rows.h"
#include "aggregator/api/statistics/clicks_sql.h"
#include "aggregator/api/statistics/group_urls.h"
#include "aggregator/api/statistics/group_visitors.h"
#include "aggregator/api/statistics/link_clicks.h"
#include "aggregator/api/statistics/owner_clicks.h"
#include "aggregator/api/statistics/owner_sql.h"
#include "aggregator/api/statistics/question_params.h"
#include "aggregator/api/statistics/total_clicks.h"
#include "aggregator/api/statistics/total_sql.h"
#include "common/clickhouse/rows.h"

/*
 * The path of a question through this file; each end of it is a statement:
 *
 *	clicks_fetch --> one link --> link_clicks_fetch
 *	    |        --> one account, filters, two groups --> fetch_many
 *	    |        --> all other questions --> fetch_all
 *	    |        --> breakdowns by dimensions of hours and by those of days:
 *	    |            fetch_mixed_rows, or fetch_parts: each has a source
 *	    v
 *	finish_breakdowns, clicks_answer_cap
 *
 *	fetch_many --> try_rows --> no day is copied: rows, or refused
 *	    |                   --> groups of few events: rows
 *	    v
 *	fetch_owners: the owners' copied days, and rows of the rest
 *
 *	fetch_all --> try_rows, for a dimension that hours do not have
 *	    |
 *	    v
 *	ask_total: the total of settled days, listed hours of the rest; values
 *	           of copied days for such a dimension.  Without these, the
 *	           answer may come from the cache (total_clicks.c).
 *
 *	fetch_owners, ask_total
 *	    |
 *	    v
 *	group_visitors_estimate: the visitors of values that these tables lack,
 *	                         from the clicks of some visitors
 */

/* --- breakdowns -------------------------------------------------------------
 */

/* Keeps the breakdowns of one kind, and returns how many. */
static size_t keep_kind(struct question *part, bool daily)
{
	size_t kept = 0;

	for (size_t i = 0; i < part->breakdown_count; i++) {
		if ((part->breakdowns[i]->kind == DIMENSION_DAILY) == daily)
			kept++;
		else
			part->breakdowns[i] = NULL;
	}
	return kept;
}

/* Splits off the breakdowns by dimensions that only days have: the second part,
 * which has no intervals.  Returns false if all breakdowns are of one kind.
 * The parts use what `q` owns; do not release them. */
static bool split_breakdowns(const struct question *q, struct question parts[2])
{
	if (!question_groups_daily(q) || !q->breakdown_count)
		return false;
	parts[0] = parts[1] = *q;
	parts[1].whole = parts[1].apart = true;
	return keep_kind(&parts[1], true) && keep_kind(&parts[0], false);
}

static bool are_biased(const struct grouping *g)
{
	for (size_t i = 0; i < g->count; i++) {
		if (counts_are_biased(&g->groups[i].counts))
			return true;
	}
	return false;
}

/* Raises the error of an answer from settled hours, and of each breakdown, if
 * an estimate lies in the biased range.  One error stands for the whole answer
 * but its breakdowns, each of which has one for its groups and the intervals.
 */
static void raise_biased_error(struct clicks_answer *a,
			       const struct question *q)
{
	bool biased = counts_are_biased(&a->total);

	for (size_t i = 0; i < a->buckets.count; i++)
		biased |= counts_are_biased(&a->data[i]);
	if (!q->breakdown_count)
		biased |= are_biased(&a->groupings[0]);
	for (size_t i = 0; i < q->breakdown_count; i++) {
		struct grouping *g = &a->groupings[i];

		g->unique_error = biased || are_biased(g) ? UNIQUE_ERROR_BIASED
							  : a->unique_error;
	}
	if (biased)
		a->unique_error = UNIQUE_ERROR_BIASED;
}

/* Completes the groupings that were counted with the total of `a`. */
static void finish_breakdowns(const struct question *q, struct clicks_answer *a)
{
	for (size_t i = 0; i < q->breakdown_count; i++) {
		struct grouping *g = &a->groupings[i];

		if (!q->breakdowns[i] || g->finished)
			continue;
		g->finished = true;
		g->total = a->total;
		if (g->unique_error <= 0)
			g->unique_error = a->unique_error;
	}
}

/* Moves the breakdowns of `part` from its answer to that of the whole. */
static void join_breakdowns(const struct question *part,
			    struct clicks_answer *whole,
			    struct clicks_answer *from)
{
	for (size_t i = 0; i < part->breakdown_count; i++) {
		if (!part->breakdowns[i])
			continue;
		whole->groupings[i] = from->groupings[i];
		from->groupings[i] = (struct grouping){0};
	}
	if (from->complete_until < whole->complete_until)
		whole->complete_until = from->complete_until;
}

/* --- sources ----------------------------------------------------------------
 */

static int prepare_buckets(struct call *call, const struct question *q,
			   struct clicks_answer *a, struct error *err)
{
	int status =
		q->whole ? buckets_one(&a->buckets, q->from, err)
			 : buckets_cut(
				   &a->buckets, q->zone, q->interval, q->from,
				   q->to,
				   (size_t)call->config->aggregator.buckets_max,
				   err);

	if (status < 0)
		return error_wrap_field(err, "interval");
	a->data = calloc(a->buckets.count, sizeof(*a->data));
	return a->data ? 0 : error_set_nomem(err);
}

/* Counts the rows of many links, `most` at most: *ret_done is false if there
 * are more. */
static int fetch_many_rows(struct call *call, const struct question *q,
			   const struct clicks_scope *scope, int64_t most,
			   struct clicks_answer *a, bool *ret_done,
			   struct error *err)
{
	struct question_params n;
	struct buf sql = {0};
	int status;

	question_params_fill(&n, q, 0, 0);
	n.readings = answer_rows_readings(q);
	status = question_params_filter(&n, q, err);
	if (status == 0)
		status = question_params_bound(&n, call, most, err);
	clicks_sql_rows(&sql, q, &a->buckets, scope, false);
	*ret_done = true;
	if (status == 0) {
		status = answer_rows_query(call, &sql, &n, a, err);
		*ret_done = status == 0 || !call_exceeded_rows(call);
	}
	buf_free(&sql);
	question_params_release(&n);
	if (*ret_done)
		return status;
	clicks_answer_clear_groups(a);
	*err = (struct error){0};
	return 0;
}

static int fetch_owners(struct call *call, const struct question *q,
			const struct owner_answer *o, struct clicks_answer *a,
			struct error *err)
{
	struct buf sql = {0};
	int status;

	owner_sql_clicks(&sql, q, &a->buckets, &o->days);
	status = answer_rows_query(call, &sql, &o->params, a, err);
	if (status < 0)
		question_params_explain(call, err);
	else
		status = group_visitors_estimate(call, q, &o->names, a, err);
	buf_free(&sql);
	return status;
}

/* Where the counts of many links are. */
enum source {
	TABLES,	  /* in copied days */
	FEW_ROWS, /* in rows, which are so few that groups can have visitors */
	ALL_ROWS, /* in rows: no day is copied */
};

static enum source source_of(const struct call *call, const struct question *q,
			     const struct copied_days *days)
{
	int64_t most = call->config->aggregator.owner_rows_max;

	if (!days->count)
		return ALL_ROWS;
	/* ClickHouse takes a limit of 0 as no limit. */
	if (!question_has_groups(q) || q->from < days->rows_from || most == 0 ||
	    copied_days_events(days) > (uint64_t)most)
		return TABLES;
	return FEW_ROWS;
}

/* Counts rows if these are the source.  *ret_done is false if the copied days
 * have to answer. */
static int try_rows(struct call *call, const struct question *q,
		    const struct clicks_scope *scope,
		    const struct copied_days *days, struct clicks_answer *a,
		    bool *ret_done, struct error *err)
{
	enum source source = source_of(call, q, days);

	*ret_done = false;
	if (source == FEW_ROWS)
		return fetch_many_rows(call, q, scope,
				       call->config->aggregator.owner_rows_max,
				       a, ret_done, err);
	if (source == TABLES)
		return 0;
	if (call_check_rows(call, q->from, err) < 0 ||
	    fetch_many_rows(call, q, scope, INT64_MAX, a, ret_done, err) < 0)
		return -1;
	return *ret_done ? 0 : question_params_refuse(call, "of one link", err);
}

/* Counts many links: in owners' tables where these have the answer, otherwise
 * in rows. */
static int fetch_many(struct call *call, const struct question *q,
		      const struct clicks_scope *scope, struct clicks_answer *a,
		      struct error *err)
{
	struct owner_answer owners = {0};
	bool done = false;
	int status = call_complete_until(call, &a->complete_until, err);

	answer_rows_set_precision(a, UNIQUE_ERROR_LIVE);
	if (status == 0)
		status = owner_answer_prepare(
			&owners, call, q, question_has_groups(q), q->from, err);
	if (status == 0)
		status = try_rows(call, q, scope, &owners.days, a, &done, err);
	if (status == 0 && !done)
		status = fetch_owners(call, q, &owners, a, err);
	owner_answer_release(&owners);
	return status;
}

static int ask_total(struct call *call, const struct question *q,
		     const struct total_answer *total, struct clicks_answer *a,
		     struct error *err)
{
	const struct total_sources from = total_answer_sources(total);
	struct buf sql = {0};
	int status;

	answer_rows_set_precision(a, UNIQUE_ERROR_SETTLED);
	total_sql_clicks(&sql, q, &a->buckets, &from);
	status = total_answer_rows(total, call, &sql, CLICKS_SQL_COLUMNS,
				   answer_rows_take, a, err);
	buf_free(&sql);
	if (status < 0) {
		question_params_explain(call, err);
		return -1;
	}
	raise_biased_error(a, q);
	return group_visitors_estimate(call, q, NULL, a, err);
}

/* Counts all links, from settled counts where these have the answer. */
static int fetch_all(struct call *call, const struct question *q,
		     struct clicks_answer *a, struct error *err)
{
	static const struct clicks_scope everything;
	struct total_answer total;
	bool done = false;
	int status = total_answer_prepare(&total, call, q, q->from, err);

	a->complete_until = total.complete_until;
	if (status == 0 && question_groups_daily(q)) {
		answer_rows_set_precision(a, UNIQUE_ERROR_LIVE);
		status = try_rows(call, q, &everything, &total.valued, a, &done,
				  err);
	}
	if (status == 0 && !done)
		status = ask_total(call, q, &total, a, err);
	total_answer_release(&total);
	return status;
}

/* Returns whether settled counts lack the answer. */
static bool needs_rows(const struct question *q)
{
	return q->filters.count || q->group_by_count > 1;
}

/* Counts what has one source. */
static int fetch_one(struct call *call, const struct question *q,
		     const struct clicks_scope *scope, struct clicks_answer *a,
		     struct error *err)
{
	a->of_rows = a->link.link_id || scope->bounded || needs_rows(q);
	if (a->link.link_id)
		return link_clicks_fetch(call, q, a, err);
	if (a->of_rows)
		return fetch_many(call, q, scope, a, err);
	return fetch_all(call, q, a, err);
}

/* Counts the rows of many links for all breakdowns at once, if each part would
 * count these. */
static int fetch_mixed_rows(struct call *call, const struct question *q,
			    const struct question *part,
			    const struct clicks_scope *scope,
			    struct clicks_answer *a, bool *ret_done,
			    struct error *err)
{
	struct owner_answer all = {0}, one = {0};
	int status = call_complete_until(call, &a->complete_until, err);

	*ret_done = false;
	a->of_rows = true;
	answer_rows_set_precision(a, UNIQUE_ERROR_LIVE);
	if (status == 0)
		status =
			owner_answer_prepare(&all, call, q, true, q->from, err);
	if (status == 0)
		status = owner_answer_prepare(&one, call, part, true, q->from,
					      err);
	if (status == 0 &&
	    source_of(call, q, &all.days) == source_of(call, part, &one.days))
		status = try_rows(call, q, scope, &all.days, a, ret_done, err);
	owner_answer_release(&all);
	owner_answer_release(&one);
	return status;
}

/* Counts the breakdowns by dimensions of days apart; the rest of the answer
 * comes with the others. */
static int fetch_parts(struct call *call, const struct question parts[2],
		       const struct clicks_scope *scope,
		       struct clicks_answer *a, struct error *err)
{
	struct clicks_answer daily = {.link = {.link_id = 0}};
	int status = fetch_one(call, &parts[0], scope, a, err);

	if (status == 0)
		status = prepare_buckets(call, &parts[1], &daily, err);
	if (status == 0)
		status = fetch_one(call, &parts[1], scope, &daily, err);
	if (status == 0) {
		finish_breakdowns(&parts[0], a);
		finish_breakdowns(&parts[1], &daily);
		join_breakdowns(&parts[1], a, &daily);
	}
	clicks_answer_release(&daily);
	return status;
}

static int fetch_mixed(struct call *call, const struct question *q,
		       const struct clicks_scope *scope,
		       struct clicks_answer *a, struct error *err)
{
	struct question parts[2];
	bool done = false;
	int status = 0;

	if (a->link.link_id || !split_breakdowns(q, parts))
		return fetch_one(call, q, scope, a, err);
	if (scope->bounded || needs_rows(q))
		status = fetch_mixed_rows(call, q, &parts[0], scope, a, &done,
					  err);
	if (status == 0 && !done)
		status = fetch_parts(call, parts, scope, a, err);
	return status;
}

int clicks_fetch(struct call *call, const struct question *q,
		 struct clicks_answer *a, struct error *err)
{
	const struct clicks_scope scope = {
		.bounded = !access_sees_all(call->access)};

	if (prepare_buckets(call, q, a, err) < 0 ||
	    fetch_mixed(call, q, &scope, a, err) < 0 ||
	    group_urls_find(call->ch, q, a, err) < 0)
		return -1;
	finish_breakdowns(q, a);
	if (a->unique_error > 0)
		clicks_answer_cap(a, q->bots);
	return 0;
}
