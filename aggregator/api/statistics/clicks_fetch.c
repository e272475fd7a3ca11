#include "aggregator/api/statistics/clicks_fetch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/api/statistics/breakdowns.h"
#include "aggregator/api/statistics/clicks_sql.h"
#include "aggregator/api/statistics/group_urls.h"
#include "aggregator/api/statistics/group_visitors.h"
#include "aggregator/api/statistics/owner_clicks.h"
#include "aggregator/api/statistics/owner_sql.h"
#include "aggregator/api/statistics/question_params.h"
#include "aggregator/api/statistics/total_clicks.h"
#include "aggregator/api/statistics/total_sql.h"
#include "common/clickhouse/rows.h"

/*
 * The path of a question through this file; each end of it is a statement:
 *
 *	clicks_fetch --> one link --> fetch_link
 *	    |        --> one account, filters, two groups --> fetch_many
 *	    |        --> all other questions --> fetch_all
 *	    |        --> breakdowns by dimensions of hours and by those of days:
 *	    |            fetch_mixed_rows, or fetch_parts: each has a source
 *	    v
 *	breakdowns_finish, clicks_answer_cap
 *
 *	fetch_link --> days are sealed; no group, no filter: fetch_sealed, from
 *	    |          sealed days, and rows of the rest
 *	    |              try_exact --> few clicks: exact visitors
 *	    |                  |
 *	    |                  v  many clicks, or too much to read
 *	    |              read_size, ask_sealed --> exact, or estimates
 *	    v
 *	fetch_rows --> try_few_rows --> few rows: exact visitors
 *	    |
 *	    v  many rows, or a filter leaves some out
 *	decide_exact --> exact visitors, or estimates
 *	             --> refused: a group or filter, and over raw_rows_max
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
 */

/* ClickHouse's exception: max_bytes_to_read is exceeded. */
#define TOO_MANY_BYTES 307

/* Bytes that exact counting may read at most: per click, from sealed slots and
 * rows, and in addition for other links in the same granules of some hundred
 * parts. */
#define EXACT_BYTES_A_ROW  96
#define EXACT_BYTES_BESIDE (INT64_C(256) << 20)
#define EXACT_ROWS_BOUNDED (INT64_C(1) << 40)

/* Rows of other links that are read with a link's rows: they are in the same
 * granules of some hundred parts. */
#define ROWS_BESIDE INT64_C(5000000)

/* Returns whether a question about one link needs its rows, also on sealed
 * days. */
static bool link_needs_rows(const struct question *q)
{
	return question_has_groups(q) || q->filters.count;
}

/* Returns how many rows of the link may be read; INT64_MAX: any number. */
static int64_t rows_bound(const struct call *call, const struct question *q)
{
	return link_needs_rows(q) ? call->config->aggregator.raw_rows_max
				  : INT64_MAX;
}

/* Counts the link's rows in the range.  A question that needs them is refused
 * if there are more than raw_rows_max; no more rows are read to find that out.
 */
static int count_rows(struct call *call, const struct question *q,
		      struct question_params *n, uint64_t *ret,
		      struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/rows_of_link.sql.inc"
		;
	int64_t most = rows_bound(call, q);
	bool bounded = link_needs_rows(q);
	size_t count = n->count;
	int status;

	if (most < INT64_MAX - ROWS_BESIDE)
		question_params_rows(n, most + ROWS_BESIDE);
	status = clickhouse_numbers(call->ch, sql, n->items, ret, 1, err);
	question_params_cut(n, count);
	if (bounded &&
	    (status < 0 ? call_exceeded_rows(call) : *ret > (uint64_t)most))
		return question_params_refuse(
			call, "without filters and groups", err);
	return status;
}

/* Decides whether the link's rows are few enough to count visitors one by one.
 */
static int decide_exact(struct call *call, const struct question *q,
			struct question_params *n, bool *ret_exact,
			struct error *err)
{
	uint64_t rows = 0;

	if (count_rows(call, q, n, &rows, err) < 0)
		return -1;
	*ret_exact = rows <= (uint64_t)call->config->aggregator.exact_rows_max;
	return 0;
}

static int add_group(struct grouping *g, const char *value, const char *second,
		     const struct counts *counts, struct error *err)
{
	struct group *more = realloc(g->groups, (g->count + 1) * sizeof(*more));

	if (!more)
		return error_set_nomem(err);
	g->groups = more;
	more += g->count++;
	*more = (struct group){.value = strdup(value),
			       .second = strdup(second),
			       .counts = *counts};
	return more->value && more->second ? 0 : error_set_nomem(err);
}

/* A single bucket equals the total; its own row, if there is one, is the same.
 */
static void take_total(struct clicks_answer *a, const struct counts *counts)
{
	a->total = *counts;
	if (a->buckets.count == 1)
		a->data[0] = *counts;
}

static int take_row(void *arg, char **f, struct error *err)
{
	struct clicks_answer *a = arg;
	struct counts counts = counts_read(f + 4);
	bool group = !strcmp(f[0], "group");

	if (!strcmp(f[0], "total")) {
		take_total(a, &counts);
	} else if (group || !strcmp(f[0], "left_out")) {
		size_t at = (size_t)tsv_u64(f[1]);

		if (at >= BREAKDOWNS_MAX)
			return error_set(err, ERROR_PROTOCOL,
					 "ClickHouse: a group of no dimension");
		if (group)
			return add_group(&a->groupings[at], f[2], f[3], &counts,
					 err);
		a->groupings[at].lower_bound = counts.events > 0;
	} else {
		a->data[buckets_find(&a->buckets, tsv_i64(f[1]))] = counts;
	}
	return 0;
}

static int query_click_counts(struct call *call, struct buf *sql,
			      const struct question_params *n,
			      struct clicks_answer *a, struct error *err)
{
	if (!buf_cstr(sql))
		return error_set_nomem(err);
	return clickhouse_rows(call->ch, sql->data, n->items,
			       CLICKS_SQL_COLUMNS, take_row, a, err);
}

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
		return error_wrap(err, "interval");
	a->data = calloc(a->buckets.count, sizeof(*a->data));
	return a->data ? 0 : error_set_nomem(err);
}

/* Sets how exact the numbers of visitors will be.  A bucket without a row has
 * zero visitors, which is a known number. */
static void set_unique_precision(struct clicks_answer *a, double unique_error)
{
	a->unique_error = unique_error;
	for (size_t i = 0; i < a->buckets.count; i++)
		a->data[i].unique_known = true;
	a->total.unique_known = true;
}

/* The parameters of queries about sealed days. */
struct sealed_numbers {
	struct question_params n;
	struct buf starts, attempts;
	char most[24];
};

static int sealed_numbers_fill(struct sealed_numbers *p,
			       const struct call *call,
			       const struct question *q, uint64_t link_id,
			       const struct copied_days *sealed,
			       struct error *err)
{
	int status;

	*p = (struct sealed_numbers){0};
	question_params_fill(&p->n, q, link_id, 0);
	status = copied_days_put(sealed, &p->starts, &p->attempts, err);
	question_params_add(&p->n, "param_days", p->starts.data);
	question_params_add(&p->n, "param_attempts", p->attempts.data);
	return status < 0 ? -1 : question_params_caller(&p->n, call, err);
}

static void sealed_numbers_release(struct sealed_numbers *p)
{
	buf_free(&p->starts);
	buf_free(&p->attempts);
	question_params_release(&p->n);
}

static int ask_sealed(struct call *call, const struct question *q,
		      const struct copied_days *sealed,
		      const struct sealed_numbers *p, bool exact,
		      struct clicks_answer *a, struct error *err)
{
	struct buf sql = {0};
	int status;

	set_unique_precision(a, exact ? 0 : UNIQUE_ERROR_LIVE);
	clicks_sql_sealed(&sql, q, &a->buckets, sealed, exact);
	status = query_click_counts(call, &sql, &p->n, a, err);
	buf_free(&sql);
	return status;
}

/*
 * Most links are small: their visitors are counted one by one without a query
 * for their number.  *ret_done is false if that would read more than a link of
 * exact_rows_max clicks can have, or if there were more clicks.
 */
static int try_exact(struct call *call, const struct question *q,
		     const struct copied_days *sealed, struct sealed_numbers *p,
		     struct clicks_answer *a, bool *ret_done, struct error *err)
{
	int64_t most = call->config->aggregator.exact_rows_max;
	size_t count = p->n.count;
	int status;

	snprintf(p->most, sizeof(p->most), "%" PRId64,
		 most < EXACT_ROWS_BOUNDED
			 ? most * EXACT_BYTES_A_ROW + EXACT_BYTES_BESIDE
			 : INT64_MAX);
	question_params_add(&p->n, "max_bytes_to_read", p->most);
	status = ask_sealed(call, q, sealed, p, true, a, err);
	question_params_cut(&p->n, count);
	*ret_done = status == 0 && a->total.events <= (uint64_t)most;
	if (status < 0 && clickhouse_last_code(call->ch) == TOO_MANY_BYTES) {
		*err = (struct error){0};
		return 0;
	}
	return status;
}

static int read_size(struct call *call, const struct question *q,
		     const struct copied_days *sealed,
		     const struct sealed_numbers *p, uint64_t *ret,
		     struct error *err)
{
	struct buf sql = {0};
	int status;

	clicks_sql_sealed_size(&sql, q, sealed);
	status = buf_cstr(&sql) ? clickhouse_numbers(call->ch, sql.data,
						     p->n.items, ret, 1, err)
				: error_set_nomem(err);
	buf_free(&sql);
	return status;
}

/* Counts from sealed days, and from rows for the rest of the range. */
static int fetch_sealed(struct call *call, const struct question *q,
			const struct copied_days *sealed,
			struct clicks_answer *a, struct error *err)
{
	uint64_t most = (uint64_t)call->config->aggregator.exact_rows_max;
	struct sealed_numbers p;
	uint64_t size = 0;
	bool done = false;
	int status =
		sealed_numbers_fill(&p, call, q, a->link.link_id, sealed, err);

	if (status == 0)
		status = try_exact(call, q, sealed, &p, a, &done, err);
	if (status == 0 && !done) {
		status = read_size(call, q, sealed, &p, &size, err);
		if (status == 0)
			status = ask_sealed(call, q, sealed, &p, size <= most,
					    a, err);
	}
	sealed_numbers_release(&p);
	return status;
}

/*
 * Most links are small: their rows are counted while they are read for the
 * answer.  *ret_done is false if there are more than exact_rows_max, or if more
 * would have to be read than such a link can have.  This is not done with
 * filters, which leave rows out.
 */
static int try_few_rows(struct call *call, const struct question *q,
			struct buf *sql, struct question_params *n,
			struct clicks_answer *a, bool *ret_done,
			struct error *err)
{
	int64_t most = call->config->aggregator.exact_rows_max;
	size_t count = n->count;
	int status;

	*ret_done = false;
	if (q->filters.count)
		return 0;
	if (most > rows_bound(call, q))
		most = rows_bound(call, q);
	if (most < INT64_MAX - ROWS_BESIDE)
		question_params_rows(n, most + ROWS_BESIDE);
	set_unique_precision(a, 0);
	status = query_click_counts(call, sql, n, a, err);
	question_params_cut(n, count);
	*ret_done = status == 0 && a->total.events <= (uint64_t)most;
	if (*ret_done || (status < 0 && !call_exceeded_rows(call)))
		return status;
	clicks_answer_clear_groups(a);
	*err = (struct error){0};
	return 0;
}

/* Returns how often rows are read: again for a dimension with several values.
 */
static int64_t readings_of(const struct question *q)
{
	return question_groups_many(q) ? 2 : 1;
}

/* Counts from rows. */
static int fetch_rows(struct call *call, const struct question *q,
		      struct clicks_answer *a, struct error *err)
{
	const struct clicks_scope scope = {.link = true};
	struct question_params n;
	struct buf sql = {0};
	bool exact = true, done = false;
	int status;

	question_params_fill(&n, q, a->link.link_id, 0);
	n.readings = readings_of(q);
	clicks_sql_rows(&sql, q, &a->buckets, &scope, true);
	status = question_params_caller(&n, call, err);
	if (status == 0)
		status = question_params_filter(&n, q, err);
	if (status == 0)
		status = try_few_rows(call, q, &sql, &n, a, &done, err);
	if (status == 0 && !done)
		status = decide_exact(call, q, &n, &exact, err);
	if (status == 0 && !done) {
		buf_reset(&sql);
		set_unique_precision(a, exact ? 0 : UNIQUE_ERROR_LIVE);
		clicks_sql_rows(&sql, q, &a->buckets, &scope, exact);
		status = query_click_counts(call, &sql, &n, a, err);
	}
	buf_free(&sql);
	question_params_release(&n);
	return status;
}

/* The watermark is read first: clicks that arrive later are counted, but not
 * promised. */
static int fetch_link(struct call *call, const struct question *q,
		      struct clicks_answer *a, struct error *err)
{
	struct copied_days sealed = {0};
	int status;

	if (call_complete_until(call, &a->complete_until, err) < 0)
		return -1;
	if (link_needs_rows(q)
		    ? call_check_rows(call, q->from, err) < 0
		    : freshness_days(call->freshness, COPIED_LINKS, call->ch,
				     q->from, q->to, &sealed, err) < 0)
		return -1;
	status = sealed.count ? fetch_sealed(call, q, &sealed, a, err)
			      : fetch_rows(call, q, a, err);
	copied_days_release(&sealed);
	return status;
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
	n.readings = readings_of(q);
	status = question_params_filter(&n, q, err);
	if (status == 0)
		status = question_params_bound(&n, call, most, err);
	clicks_sql_rows(&sql, q, &a->buckets, scope, false);
	*ret_done = true;
	if (status == 0) {
		status = query_click_counts(call, &sql, &n, a, err);
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
	status = query_click_counts(call, &sql, &o->params, a, err);
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

	set_unique_precision(a, UNIQUE_ERROR_LIVE);
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

	set_unique_precision(a, UNIQUE_ERROR_SETTLED);
	total_sql_clicks(&sql, q, &a->buckets, &from);
	status = total_answer_rows(total, call, &sql, CLICKS_SQL_COLUMNS,
				   take_row, a, err);
	buf_free(&sql);
	if (status < 0) {
		question_params_explain(call, err);
		return -1;
	}
	breakdowns_raise_error(a, q);
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
		set_unique_precision(a, UNIQUE_ERROR_LIVE);
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
		return fetch_link(call, q, a, err);
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
	set_unique_precision(a, UNIQUE_ERROR_LIVE);
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
		breakdowns_finish(&parts[0], a);
		breakdowns_finish(&parts[1], &daily);
		breakdowns_join(&parts[1], a, &daily);
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

	if (a->link.link_id || !breakdowns_split(q, parts))
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
	breakdowns_finish(q, a);
	if (a->unique_error > 0)
		clicks_answer_cap(a, q->bots);
	return 0;
}
