#include "aggregator/api/clicks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/api/clicks_sql.h"
#include "aggregator/settle/progress.h"
#include "common/clickhouse/tsv.h"

/* The parameters that every query of an answer may name. */
struct numbers {
	char link_id[24], from[24], to[24], attempt[24], limit[24];
	struct clickhouse_param params[6];
};

static void numbers_fill(struct numbers *n, const struct question *q,
			 uint64_t link_id, uint64_t attempt)
{
	snprintf(n->link_id, sizeof(n->link_id), "%" PRIu64, link_id);
	snprintf(n->from, sizeof(n->from), "%" PRId64, q->from);
	snprintf(n->to, sizeof(n->to), "%" PRId64, q->to);
	snprintf(n->attempt, sizeof(n->attempt), "%" PRIu64, attempt);
	snprintf(n->limit, sizeof(n->limit), "%zu", q->limit);
	n->params[0] = (struct clickhouse_param){"param_link_id", n->link_id};
	n->params[1] = (struct clickhouse_param){"param_from", n->from};
	n->params[2] = (struct clickhouse_param){"param_to", n->to};
	n->params[3] = (struct clickhouse_param){"param_attempt", n->attempt};
	n->params[4] = (struct clickhouse_param){"param_limit", n->limit};
	n->params[5] = (struct clickhouse_param){NULL, NULL};
}

/* Whether the link's rows are few enough to count visitors one by one. */
static int decide_exact(struct call *call, const struct numbers *n,
			bool *ret_exact, struct error *err)
{
	static const char sql[] =
		"SELECT count() FROM clicks WHERE link_id = {link_id:UInt64} "
		"AND ts >= toDateTime64({from:UInt32}, 3, 'UTC') "
		"AND ts < toDateTime64({to:UInt32}, 3, 'UTC') "
		"FORMAT TabSeparated";
	struct buf answer = {0};
	struct tsv rows;
	char *count;
	int status = clickhouse_query(call->ch, sql, n->params, &answer, err);

	rows = tsv_rows(&answer);
	if (status == 0 && tsv_next(&rows, &count, 1))
		*ret_exact = tsv_u64(count) <=
			     (uint64_t)call->config->own.api.exact_rows_max;
	buf_free(&answer);
	return status;
}

static int add_group(struct clicks_answer *a, const char *value,
		     const struct counts *counts, struct error *err)
{
	struct group *more =
		realloc(a->groups, (a->group_count + 1) * sizeof(*more));

	if (!more)
		return error_set_nomem(err);
	a->groups = more;
	more[a->group_count].value = strdup(value);
	if (!more[a->group_count].value)
		return error_set_nomem(err);
	more[a->group_count++].counts = *counts;
	return 0;
}

static int take_row(struct clicks_answer *a, char *const *f, struct error *err)
{
	struct counts counts = counts_read(f + 3);

	if (!strcmp(f[0], "group"))
		return add_group(a, f[2], &counts, err);
	if (!strcmp(f[0], "total"))
		a->total = counts;
	else
		a->data[buckets_find(&a->buckets, tsv_i64(f[1]))] = counts;
	return 0;
}

static int run(struct call *call, struct buf *sql, const struct numbers *n,
	       struct clicks_answer *a, struct error *err)
{
	struct buf answer = {0};
	char *f[CLICKS_SQL_FIELDS];
	struct tsv rows;
	int status = -1;

	if (!buf_cstr(sql))
		error_set_nomem(err);
	else
		status = clickhouse_query(call->ch, sql->data, n->params,
					  &answer, err);
	rows = tsv_rows(&answer);
	while (status == 0 && tsv_next(&rows, f, CLICKS_SQL_FIELDS))
		status = take_row(a, f, err);
	if (status == 0 && rows.bad)
		status = error_set(err, ERROR_PROTOCOL,
				   "ClickHouse: an answer of another shape");
	buf_free(&answer);
	return status;
}

/* Nothing counted is zero visitors, and that is known. */
static int prepare(struct call *call, const struct question *q,
		   struct clicks_answer *a, struct error *err)
{
	bool known = a->link.link_id || q->bots != BOTS_ONLY;

	if (buckets_cut(&a->buckets, q->zone, q->interval, q->from, q->to,
			(size_t)call->config->own.api.buckets_max, err) < 0)
		return error_wrap(err, "interval");
	a->data = calloc(a->buckets.count, sizeof(*a->data));
	if (!a->data)
		return error_set_nomem(err);
	for (size_t i = 0; i < a->buckets.count; i++)
		a->data[i].unique_known = known;
	a->total.unique_known = known;
	return 0;
}

/* Live, from the raw rows.  The watermark is read first: what arrives later is
 * counted, but not promised. */
static int fetch_link(struct call *call, const struct question *q,
		      struct clicks_answer *a, struct error *err)
{
	struct numbers n;
	struct buf sql = {0};
	bool exact = true;
	int status;

	numbers_fill(&n, q, a->link.link_id, 0);
	if (call_complete_until(call, &a->complete_until, err) < 0 ||
	    decide_exact(call, &n, &exact, err) < 0)
		return -1;
	a->approximate = !exact;
	clicks_sql_link(&sql, q, &a->buckets, exact);
	status = run(call, &sql, &n, a, err);
	buf_free(&sql);
	return status;
}

static int fetch_all(struct call *call, const struct question *q,
		     struct clicks_answer *a, struct error *err)
{
	struct progress last;
	struct numbers n;
	struct buf sql = {0};
	int status;

	if (progress_read_last(call->ch, &last, err) < 0)
		return -1;
	numbers_fill(&n, q, 0, last.attempt);
	a->complete_until = last.complete_until;
	a->approximate = true; /* distinct visitors are estimated */
	clicks_sql_all(&sql, q, &a->buckets);
	status = run(call, &sql, &n, a, err);
	buf_free(&sql);
	return status;
}

int clicks_fetch(struct call *call, const struct question *q,
		 struct clicks_answer *ret, struct error *err)
{
	int status = 0;

	*ret = (struct clicks_answer){0};
	if (*q->code)
		status = archive_find_code(call->ch, q->code, &ret->link, err);
	else if (q->link_id)
		status = archive_find_link(call->ch, q->link_id, &ret->link,
					   err);
	if (status < 0 || prepare(call, q, ret, err) < 0)
		return -1;
	if (ret->link.link_id)
		return fetch_link(call, q, ret, err);
	return fetch_all(call, q, ret, err);
}

void clicks_answer_release(struct clicks_answer *a)
{
	archived_link_release(&a->link);
	buckets_release(&a->buckets);
	free(a->data);
	for (size_t i = 0; i < a->group_count; i++)
		free(a->groups[i].value);
	free(a->groups);
}

int route_clicks(struct call *call, struct error *err)
{
	struct question q;
	struct clicks_answer a = {0};
	int status =
		question_parse(&q, call->query,
			       ASK_LINK | ASK_RANGE | ASK_INTERVAL | ASK_GROUP |
				       ASK_BOTS | ASK_FORMAT,
			       &call->config->own.api, call_now, call, err);

	if (status == 0)
		status = clicks_fetch(call, &q, &a, err);
	if (status == 0 && q.csv) {
		clicks_to_csv(&q, &a, &call->body);
		status = call_finish_csv(call, err);
	} else if (status == 0) {
		status = call_finish_json(call, clicks_to_json(&q, &a), err);
	}
	clicks_answer_release(&a);
	question_release(&q);
	return status;
}
