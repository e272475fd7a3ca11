#include "aggregator/api/statistics/link_clicks.h"

#include <inttypes.h>
#include <stdio.h>

#include "aggregator/api/statistics/answer_rows.h"
#include "aggregator/api/statistics/clicks_sql.h"
#include "aggregator/api/statistics/question_params.h"
#include "aggregator/api/statistics/whole_days.h"
#include "common/clickhouse/rows.h"

/*
 * The path of a question through this file; each end of it is a statement:
 *
 *	link_clicks_fetch --> days are sealed; no group, no filter, or groups of
 *	    |                 days whose rows are dropped: fetch_sealed, from
 *	    |                 sealed days and values of links, and rows of the
 *	    |                 rest
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

static const char rows_of_link[] =
#include "aggregator/sql/rows_of_link.sql.inc"
	;

/* Counts the link's rows by the statement.  A question that needs them is
 * refused if there are more than raw_rows_max; no more rows are read to find
 * that out. */
static int count_rows(struct call *call, const struct question *q,
		      const char *sql, struct question_params *n, uint64_t *ret,
		      struct error *err)
{
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

	if (count_rows(call, q, rows_of_link, n, &rows, err) < 0)
		return -1;
	*ret_exact = rows <= (uint64_t)call->config->aggregator.exact_rows_max;
	return 0;
}

/* The days of a link that are copied. */
struct link_days {
	struct copied_days sealed;
	/* Days whose values answer for groups, if `grouped`. */
	struct copied_days valued;
	bool grouped;
};

static void link_days_release(struct link_days *days)
{
	copied_days_release(&days->sealed);
	copied_days_release(&days->valued);
}

/* The parameters of queries about sealed days. */
struct sealed_numbers {
	struct question_params n;
	struct buf starts, attempts, value_starts, value_attempts;
	char most[24];
};

static int sealed_numbers_fill(struct sealed_numbers *p,
			       const struct call *call,
			       const struct question *q, uint64_t link_id,
			       const struct link_days *days, struct error *err)
{
	int status;

	*p = (struct sealed_numbers){0};
	question_params_fill(&p->n, q, link_id, 0);
	status = copied_days_put(&days->sealed, &p->starts, &p->attempts, err);
	if (status == 0)
		status = copied_days_put(&days->valued, &p->value_starts,
					 &p->value_attempts, err);
	question_params_add(&p->n, "param_days", p->starts.data);
	question_params_add(&p->n, "param_attempts", p->attempts.data);
	question_params_add(&p->n, "param_value_days", p->value_starts.data);
	question_params_add(&p->n, "param_value_attempts",
			    p->value_attempts.data);
	return status < 0 ? -1 : question_params_caller(&p->n, call, err);
}

static void sealed_numbers_release(struct sealed_numbers *p)
{
	buf_free(&p->starts);
	buf_free(&p->attempts);
	buf_free(&p->value_starts);
	buf_free(&p->value_attempts);
	question_params_release(&p->n);
}

static int ask_sealed(struct call *call, const struct question *q,
		      const struct link_days *days,
		      const struct sealed_numbers *p, bool exact,
		      struct clicks_answer *a, struct error *err)
{
	struct buf sql = {0};
	int status;

	answer_rows_set_precision(a, exact ? 0 : UNIQUE_ERROR_LIVE);
	clicks_answer_clear_groups(a);
	clicks_sql_sealed(&sql, q, &a->buckets, &days->sealed,
			  days->grouped ? &days->valued : NULL, exact);
	status = answer_rows_query(call, &sql, &p->n, a, err);
	buf_free(&sql);
	return status;
}

/*
 * Most links are small: their visitors are counted one by one without a query
 * for their number.  *ret_done is false if that would read more than a link of
 * exact_rows_max clicks can have, or if there were more clicks.
 */
static int try_exact(struct call *call, const struct question *q,
		     const struct link_days *days, struct sealed_numbers *p,
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
	status = ask_sealed(call, q, days, p, true, a, err);
	question_params_cut(&p->n, count);
	*ret_done = status == 0 && a->total.events <= (uint64_t)most;
	if (status < 0 && clickhouse_last_code(call->ch) == TOO_MANY_BYTES) {
		*err = (struct error){0};
		return 0;
	}
	return status;
}

static int read_size(struct call *call, const struct question *q,
		     const struct link_days *days,
		     const struct sealed_numbers *p, uint64_t *ret,
		     struct error *err)
{
	struct buf sql = {0};
	int status;

	clicks_sql_sealed_size(&sql, q, &days->sealed);
	status = buf_cstr(&sql) ? clickhouse_numbers(call->ch, sql.data,
						     p->n.items, ret, 1, err)
				: error_set_nomem(err);
	buf_free(&sql);
	return status;
}

/* Checks that rows which groups need are no more than raw_rows_max. */
static int check_open_rows(struct call *call, const struct question *q,
			   const struct link_days *days,
			   struct sealed_numbers *p, struct error *err)
{
	struct buf sql = {0};
	uint64_t rows;
	int status;

	if (!days->grouped)
		return 0;
	clicks_sql_open_size(&sql, q, &days->valued);
	status = buf_cstr(&sql)
			 ? count_rows(call, q, sql.data, &p->n, &rows, err)
			 : error_set_nomem(err);
	buf_free(&sql);
	return status;
}

/* Counts from sealed days, and from rows for the rest of the range. */
static int fetch_sealed(struct call *call, const struct question *q,
			const struct link_days *days, struct clicks_answer *a,
			struct error *err)
{
	uint64_t most = (uint64_t)call->config->aggregator.exact_rows_max;
	struct sealed_numbers p;
	uint64_t size = 0;
	bool done = false;
	int status =
		sealed_numbers_fill(&p, call, q, a->link.link_id, days, err);

	if (status == 0)
		status = check_open_rows(call, q, days, &p, err);
	if (status == 0)
		status = try_exact(call, q, days, &p, a, &done, err);
	if (status == 0 && !done) {
		status = read_size(call, q, days, &p, &size, err);
		if (status == 0)
			status = ask_sealed(call, q, days, &p, size <= most, a,
					    err);
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
	answer_rows_set_precision(a, 0);
	status = answer_rows_query(call, sql, n, a, err);
	question_params_cut(n, count);
	*ret_done = status == 0 && a->total.events <= (uint64_t)most;
	if (*ret_done || (status < 0 && !call_exceeded_rows(call)))
		return status;
	clicks_answer_clear_groups(a);
	*err = (struct error){0};
	return 0;
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
	n.readings = answer_rows_readings(q);
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
		answer_rows_set_precision(a, exact ? 0 : UNIQUE_ERROR_LIVE);
		clicks_sql_rows(&sql, q, &a->buckets, &scope, exact);
		status = answer_rows_query(call, &sql, &n, a, err);
	}
	buf_free(&sql);
	question_params_release(&n);
	return status;
}

/* Reads the days whose values answer for groups, if rows that the question
 * needs are dropped. */
static int read_valued(struct call *call, const struct question *q,
		       struct link_days *days, struct error *err)
{
	if (q->filters.count || q->group_by_count > 1)
		return call_check_rows(call, q->from, err);
	if (freshness_days(call->freshness, COPIED_LINK_VALUES, call->ch,
			   q->from, q->to, &days->valued, err) < 0)
		return -1;
	if (q->from >= days->valued.rows_from)
		return 0;
	if (q->from < days->valued.days_from)
		return call_check_rows(call, q->from, err);
	days->grouped = true;
	return whole_days_keep(&days->valued, q, q->from,
			       "counts of a link by one dimension", err);
}

static int read_link_days(struct call *call, const struct question *q,
			  struct link_days *days, struct error *err)
{
	if (link_needs_rows(q)) {
		if (read_valued(call, q, days, err) < 0)
			return -1;
		if (!days->grouped)
			return 0;
	}
	return freshness_days(call->freshness, COPIED_LINKS, call->ch, q->from,
			      q->to, &days->sealed, err);
}

/* The watermark is read first: clicks that arrive later are counted, but not
 * promised. */
int link_clicks_fetch(struct call *call, const struct question *q,
		      struct clicks_answer *a, struct error *err)
{
	struct link_days days = {0};
	int status = call_complete_until(call, &a->complete_until, err);

	if (status == 0)
		status = read_link_days(call, q, &days, err);
	if (status == 0)
		status = days.sealed.count
				 ? fetch_sealed(call, q, &days, a, err)
				 : fetch_rows(call, q, a, err);
	link_days_release(&days);
	return status;
}
