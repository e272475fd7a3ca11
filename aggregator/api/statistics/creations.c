/*
 * GET /v1/creations: links created, by hour, day or month of a zone, and by a
 * property of their creation.
 *
 * Settled hours are read from `creations`, and rows of created_links for the
 * rest of the range, so the numbers are those of all links that are stored.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/api/call.h"
#include "aggregator/api/csv.h"
#include "aggregator/api/statistics/creation_hours.h"
#include "aggregator/api/statistics/owner_clicks.h"
#include "aggregator/api/statistics/question.h"
#include "aggregator/api/statistics/question_params.h"
#include "common/clickhouse/rows.h"
#include "common/clickhouse/statement.h"

#define MEMORY "2000000000" /* bytes per query */

struct creation_group {
	char *value; /* owned */
	uint64_t links;
};

struct creations_answer {
	struct buckets buckets;
	uint64_t *data; /* one per bucket */
	uint64_t total;
	struct creation_group *groups; /* most links first */
	size_t group_count, limit;
	int64_t complete_until; /* ms; 0: not known */
};

static void creations_answer_release(struct creations_answer *a)
{
	for (size_t i = 0; i < a->group_count; i++)
		free(a->groups[i].value);
	free(a->groups);
	free(a->data);
	buckets_release(&a->buckets);
}

/* --- up to when ----------------------------------------------------------- */

/* Reads what the collectors reported of topics of links, as the watermark does
 * of clicks.  Call it before links are counted. */
static int read_complete_until(struct call *call, int64_t *ret,
			       struct error *err)
{
	int64_t delay = call->config->aggregator.clicks.edge_delay;
	struct watermark links = {0};
	struct fresh fresh = {0};
	size_t kept = 0;

	if (freshness_get_marks(call->freshness, &fresh, err) < 0)
		return -1;
	for (size_t i = 0; i < fresh.mark_count; i++) {
		struct partition_mark mark = fresh.marks[i];

		mark.partitions = mark.link_partitions;
		if (mark.partitions)
			fresh.marks[kept++] = mark;
	}
	watermark_of(fresh.marks, kept, &links);
	fresh_release(&fresh);
	*ret = links.complete_until > delay ? links.complete_until - delay : 0;
	return 0;
}

/* --- the query ------------------------------------------------------------ */

static const char creations_settled[] =
#include "aggregator/sql/parts/creations_settled.sql.inc"
	;
static const char creations_of_rows[] =
#include "aggregator/sql/parts/creations_of_rows.sql.inc"
	;

/* Writes the start of the bucket of a time; the bounds are one constant of the
 * query. */
static void put_bucket(struct buf *sql, const struct buckets *buckets)
{
	buf_puts(sql, "roundDown(toUnixTimestamp(t), CAST('[");
	for (size_t i = 0; i < buckets->count; i++)
		buf_printf(sql, "%s%" PRId64, i ? "," : "", buckets->starts[i]);
	buf_puts(sql, "]', 'Array(Int64)'))");
}

/* Writes one half of the counts. */
static void put_half(struct buf *sql, const char *text,
		     const struct question *q, const struct buckets *buckets,
		     const char *spans)
{
	const char *value =
		q->group_by_count ? q->group_by[0]->expression : "''";
	struct buf bucket = {0}, filters = {0};
	struct statement_blank blanks[] = {
		{"hour_bucket", NULL}, {"slot_bucket", NULL}, {"value", value},
		{"filters", NULL},     {"spans", spans},      {NULL, NULL}};

	put_bucket(&bucket, buckets);
	filters_put_sql(&q->filters, &filters);
	blanks[0].sql = blanks[1].sql = statement_piece(sql, &bucket);
	blanks[3].sql = statement_piece(sql, &filters);
	statement_put(sql, text, blanks);
	buf_free(&bucket);
	buf_free(&filters);
}

static void put_query(struct buf *sql, const struct question *q,
		      const struct creations_answer *a,
		      const struct creation_hours *hours)
{
	static const char text[] =
#include "aggregator/sql/creations.sql.inc"
		;
	struct buf settled = {0}, rows = {0};
	struct statement_blank blanks[] = {
		{"settled", NULL}, {"rows", NULL}, {NULL, NULL}};

	if (hours->count) {
		put_half(&settled, creations_settled, q, &a->buckets, NULL);
		blanks[0].sql = statement_piece(sql, &settled);
	}
	if (hours->spans.len) {
		put_half(&rows, creations_of_rows, q, &a->buckets,
			 hours->spans.data);
		blanks[1].sql = statement_piece(sql, &rows);
	}
	statement_put(sql, text, blanks);
	buf_free(&settled);
	buf_free(&rows);
}

static int add_group(struct creations_answer *a, const char *value,
		     uint64_t links, struct error *err)
{
	struct creation_group *more;

	if (a->group_count == a->limit)
		return 0;
	more = realloc(a->groups, (a->group_count + 1) * sizeof(*more));
	if (!more)
		return error_set_nomem(err);
	a->groups = more;
	more[a->group_count] = (struct creation_group){strdup(value), links};
	return more[a->group_count++].value ? 0 : error_set_nomem(err);
}

/* A row is: part, bucket, value, links. */
static int take_row(void *arg, char **f, struct error *err)
{
	struct creations_answer *a = arg;
	uint64_t links = tsv_u64(f[3]);

	if (!strcmp(f[0], "group"))
		return add_group(a, f[2], links, err);
	if (!strcmp(f[0], "total"))
		a->total = links;
	else
		a->data[buckets_find(&a->buckets, tsv_i64(f[1]))] = links;
	return 0;
}

/* The strategy of each configured space, for the dimension of that name. */
struct strategy_params {
	struct buf spaces, strategies;
};

static int strategy_params_fill(struct strategy_params *p,
				const struct links_config *links,
				struct error *err)
{
	const struct links_space_config *spaces = links->spaces.items;

	for (size_t i = 0; i < links->spaces.count; i++) {
		const char *between = i ? "\n" : "";
		struct buf name = {0}, strategy = {0};

		buf_printf(&name, "%s%s", between, spaces[i].name);
		buf_printf(&strategy, "%s%s", between, spaces[i].strategy);
		clickhouse_escape(&p->spaces, buf_cstr(&name), name.len);
		clickhouse_escape(&p->strategies, buf_cstr(&strategy),
				  strategy.len);
		buf_free(&name);
		buf_free(&strategy);
	}
	return buf_cstr(&p->spaces) && buf_cstr(&p->strategies)
		       ? 0
		       : error_set_nomem(err);
}

static void strategy_params_release(struct strategy_params *p)
{
	buf_free(&p->spaces);
	buf_free(&p->strategies);
}

/* Counts by owner are only read if the question or the key names owners: they
 * are many rows. */
static int is_by_owner(const struct call *call, const struct question *q,
		       bool *ret, struct error *err)
{
	struct access_bounds bounds;
	int status = access_bounds_fill(&bounds, call->access, err);

	*ret = bounds.has_owners || filters_find(&q->filters, "owner") ||
	       (q->group_by_count && !strcmp(q->group_by[0]->name, "owner"));
	access_bounds_release(&bounds);
	return status;
}

static int run_query(struct call *call, const struct question *q,
		     const struct creation_hours *hours,
		     struct question_params *n, struct creations_answer *a,
		     struct error *err)
{
	struct buf sql = {0};
	char most[24];
	size_t rows = a->buckets.count > q->limit ? a->buckets.count : q->limit;
	int status;

	snprintf(most, sizeof(most), "%zu", rows);
	question_params_add(n, "param_most", most);
	question_params_add(n, "param_hours", hours->starts.data);
	question_params_add(n, "param_attempts", hours->attempts.data);
	question_params_add(n, "max_memory_usage", MEMORY);
	put_query(&sql, q, a, hours);
	status = buf_cstr(&sql) ? clickhouse_rows(call->ch, sql.data, n->items,
						  "snsn", take_row, a, err)
				: error_set_nomem(err);
	if (status < 0)
		call_explain_memory(call,
				    "ClickHouse has not enough memory for "
				    "these groups: ask for a shorter range",
				    err);
	buf_free(&sql);
	return status;
}

static int count_links(struct call *call, const struct question *q,
		       struct creations_answer *a, struct error *err)
{
	struct creation_hours hours = {0};
	struct strategy_params strategies = {0};
	struct question_params n;
	bool by_owner = true;
	int status;

	question_params_fill(&n, q, 0, 0);
	status = creation_hours_read(&hours, call, q, &a->buckets, err);
	if (status == 0)
		status = question_params_filter(&n, q, err);
	if (status == 0)
		status = question_params_caller(&n, call, err);
	if (status == 0)
		status = is_by_owner(call, q, &by_owner, err);
	if (status == 0)
		status = strategy_params_fill(&strategies, &call->config->links,
					      err);
	if (status == 0) {
		question_params_add(&n, "param_by_owner",
				    by_owner ? "true" : "false");
		question_params_add(&n, "param_strategy_spaces",
				    strategies.spaces.data);
		question_params_add(&n, "param_strategies",
				    strategies.strategies.data);
		status = run_query(call, q, &hours, &n, a, err);
	}
	question_params_release(&n);
	strategy_params_release(&strategies);
	creation_hours_release(&hours);
	return status;
}

/* --- the answer ----------------------------------------------------------- */

static json_t *data_to_json(const struct question *q,
			    const struct creations_answer *a)
{
	json_t *array = json_array();
	char text[ZONE_TEXT_MAX];

	for (size_t i = 0; i < a->buckets.count; i++)
		json_array_append_new(
			array,
			json_pack("{s:s, s:o}", "start",
				  zone_format(q->zone, a->buckets.starts[i],
					      text),
				  "links", json_count(a->data[i])));
	return array;
}

/* Adds the groups, and the links that are in none of them. */
static void add_groups(const struct question *q,
		       const struct creations_answer *a, json_t *answer)
{
	json_t *array = json_array();
	uint64_t shown = 0;

	for (size_t i = 0; i < a->group_count; i++) {
		shown += a->groups[i].links;
		json_array_append_new(
			array,
			json_pack("{s:s, s:o}", "value", a->groups[i].value,
				  "links", json_count(a->groups[i].links)));
	}
	json_object_set_new(answer, "group_by",
			    json_string(q->group_by[0]->name));
	json_object_set_new(answer, "groups", array);
	if (shown < a->total)
		json_object_set_new(answer, "rest",
				    json_pack("{s:o}", "links",
					      json_count(a->total - shown)));
}

static json_t *creations_to_json(const struct question *q,
				 const struct creations_answer *a)
{
	char from[ZONE_TEXT_MAX], to[ZONE_TEXT_MAX];
	json_t *answer = json_pack(
		"{s:s, s:s, s:s, s:s, s:o, s:b, s:o, s:{s:o}}", "interval",
		q->whole ? "total" : bucket_interval_name(q->interval), "tz",
		zone_name(q->zone), "from", zone_format(q->zone, q->from, from),
		"to", zone_format(q->zone, q->to, to), "complete_until",
		json_complete_until(a->complete_until, q->to), "complete",
		a->complete_until >= q->to * 1000, "data", data_to_json(q, a),
		"total", "links", json_count(a->total));

	if (answer && q->group_by_count)
		add_groups(q, a, answer);
	return answer;
}

static void creations_to_csv(const struct question *q,
			     const struct creations_answer *a, struct buf *out)
{
	bool groups = q->group_by_count > 0;
	size_t rows = groups ? a->group_count : a->buckets.count;
	char text[ZONE_TEXT_MAX];

	buf_printf(out, "%s,links\r\n",
		   groups ? q->group_by[0]->name : "start");
	for (size_t i = 0; i < rows; i++) {
		if (groups)
			csv_put_text(out, a->groups[i].value);
		else
			buf_puts(out, zone_format(q->zone, a->buckets.starts[i],
						  text));
		buf_printf(out, ",%" PRIu64 "\r\n",
			   groups ? a->groups[i].links : a->data[i]);
	}
}

static int cut_range(struct call *call, const struct question *q,
		     struct creations_answer *a, struct error *err)
{
	size_t most = (size_t)call->config->aggregator.buckets_max;
	int status = 0;

	a->limit = q->limit;
	if (q->whole) {
		status = buckets_one(&a->buckets, q->from, err);
	} else {
		status = buckets_cut(&a->buckets, q->zone, q->interval, q->from,
				     q->to, most, err);
	}
	if (status < 0)
		return error_wrap_field(err, "interval");
	a->data = calloc(a->buckets.count, sizeof(*a->data));
	return a->data ? 0 : error_set_nomem(err);
}

static int creations_fetch(struct call *call, const struct question *q,
			   struct creations_answer *ret, struct error *err)
{
	if (owner_question_check(q, call->access, err) < 0 ||
	    cut_range(call, q, ret, err) < 0 ||
	    read_complete_until(call, &ret->complete_until, err) < 0)
		return -1;
	return count_links(call, q, ret, err);
}

int route_creations(struct call *call, struct error *err)
{
	struct question q;
	struct creations_answer a = {0};
	int status =
		question_parse(&q, call->query,
			       ASK_RANGE | ASK_INTERVAL | ASK_GROUP |
				       ASK_FORMAT | ASK_FILTER | ASK_CREATIONS,
			       &call->config->aggregator, call_now, call, err);

	if (status == 0)
		status = creations_fetch(call, &q, &a, err);
	if (status == 0 && q.csv) {
		creations_to_csv(&q, &a, &call->body);
		call_set_completeness(call, a.complete_until, q.to,
				      a.complete_until >= q.to * 1000, false);
		call->completeness.waiting = NULL;
		status = call_finish_csv(call, err);
	} else if (status == 0) {
		status = call_finish_json(call, creations_to_json(&q, &a), err);
	}
	creations_answer_release(&a);
	question_release(&q);
	return status;
}
