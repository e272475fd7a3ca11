#include "aggregator/api/clicks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/api/clicks_sql.h"
#include "aggregator/api/csv.h"
#include "aggregator/api/question_params.h"
#include "aggregator/settle/progress.h"
#include "common/clickhouse/rows.h"

/* ClickHouse's exception: max_bytes_to_read is exceeded. */
#define TOO_MANY_BYTES 307

/* What is read of a click at most, of sealed slots and of rows, and beside:
 * other links' in the same granules of some hundred parts. */
#define EXACT_BYTES_A_ROW  96
#define EXACT_BYTES_BESIDE (INT64_C(256) << 20)
#define EXACT_ROWS_BOUNDED (INT64_C(1) << 40)

/* Whether the link's rows are few enough to count visitors one by one. */
static int decide_exact(struct call *call, const struct question_params *n,
			bool *ret_exact, struct error *err)
{
	static const char sql[] =
		"SELECT count() FROM clicks WHERE link_id = {link_id:UInt64} "
		"AND ts >= toDateTime64({from:UInt32}, 3, 'UTC') "
		"AND ts < toDateTime64({to:UInt32}, 3, 'UTC') "
		"FORMAT TabSeparated";
	uint64_t rows;

	if (clickhouse_numbers(call->ch, sql, n->items, &rows, 1, err) < 0)
		return -1;
	*ret_exact = rows <= (uint64_t)call->config->aggregator.exact_rows_max;
	return 0;
}

static int add_group(struct clicks_answer *a, const char *value,
		     const char *second, const struct counts *counts,
		     struct error *err)
{
	struct group *more =
		realloc(a->groups, (a->group_count + 1) * sizeof(*more));

	if (!more)
		return error_set_nomem(err);
	a->groups = more;
	more += a->group_count++;
	*more = (struct group){strdup(value), strdup(second), *counts};
	return more->value && more->second ? 0 : error_set_nomem(err);
}

static int take_row(void *arg, char **f, struct error *err)
{
	struct clicks_answer *a = arg;
	struct counts counts = counts_read(f + 4);

	if (!strcmp(f[0], "group"))
		return add_group(a, f[2], f[3], &counts, err);
	if (!strcmp(f[0], "total"))
		a->total = counts;
	else
		a->data[buckets_find(&a->buckets, tsv_i64(f[1]))] = counts;
	return 0;
}

static int run(struct call *call, struct buf *sql,
	       const struct question_params *n, struct clicks_answer *a,
	       struct error *err)
{
	if (!buf_cstr(sql))
		return error_set_nomem(err);
	return clickhouse_rows(call->ch, sql->data, n->items,
			       CLICKS_SQL_COLUMNS, take_row, a, err);
}

/* A bucket without a row has zero visitors, which is a known number; `known`:
 * it would be known of one that has some. */
static int prepare(struct call *call, const struct question *q, bool known,
		   struct clicks_answer *a, struct error *err)
{
	if (buckets_cut(&a->buckets, q->zone, q->interval, q->from, q->to,
			(size_t)call->config->aggregator.buckets_max, err) < 0)
		return error_wrap(err, "interval");
	a->data = calloc(a->buckets.count, sizeof(*a->data));
	if (!a->data)
		return error_set_nomem(err);
	for (size_t i = 0; i < a->buckets.count; i++)
		a->data[i].unique_known = known;
	a->total.unique_known = known;
	return 0;
}

/* The parameters of questions about sealed days. */
struct sealed_numbers {
	struct question_params n;
	struct buf starts, attempts;
	char most[24];
};

static int sealed_numbers_fill(struct sealed_numbers *p,
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
	return status;
}

static void sealed_numbers_release(struct sealed_numbers *p)
{
	buf_free(&p->starts);
	buf_free(&p->attempts);
}

static int ask_sealed(struct call *call, const struct question *q,
		      const struct copied_days *sealed,
		      const struct sealed_numbers *p, bool exact,
		      struct clicks_answer *a, struct error *err)
{
	struct buf sql = {0};
	int status;

	a->unique_error = exact ? 0 : UNIQUE_ERROR_LIVE;
	clicks_sql_sealed(&sql, q, &a->buckets, sealed, exact);
	status = run(call, &sql, &p->n, a, err);
	buf_free(&sql);
	return status;
}

/*
 * Most links are small: their visitors are counted one by one without asking
 * how many there are.  *ret_done is false when that would read more than a link
 * of exact_rows_max clicks can have, or when there were more.
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
	p->n.count = count;
	p->n.items[count] = (struct clickhouse_param){NULL, NULL};
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

/* From sealed days, and the rest from the raw rows. */
static int fetch_sealed(struct call *call, const struct question *q,
			const struct copied_days *sealed,
			struct clicks_answer *a, struct error *err)
{
	uint64_t most = (uint64_t)call->config->aggregator.exact_rows_max;
	struct sealed_numbers p;
	uint64_t size = 0;
	bool done = false;
	int status = sealed_numbers_fill(&p, q, a->link.link_id, sealed, err);

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

/* Live, from the raw rows. */
static int fetch_rows(struct call *call, const struct question *q,
		      struct clicks_answer *a, struct error *err)
{
	const struct clicks_scope scope = {.link = true};
	struct question_params n;
	struct buf sql = {0};
	bool exact = true;
	int status;

	question_params_fill(&n, q, a->link.link_id, 0);
	status = question_params_filter(&n, q, err);
	if (status == 0)
		status = decide_exact(call, &n, &exact, err);
	a->unique_error = exact ? 0 : UNIQUE_ERROR_LIVE;
	clicks_sql_rows(&sql, q, &a->buckets, &scope, exact);
	if (status == 0)
		status = run(call, &sql, &n, a, err);
	buf_free(&sql);
	question_params_release(&n);
	return status;
}

/* The watermark is read first: what arrives later is counted, but not
 * promised. */
static int fetch_link(struct call *call, const struct question *q,
		      struct clicks_answer *a, struct error *err)
{
	bool of_rows = q->group_by_count || q->filters.count;
	struct copied_days sealed = {0};
	int status;

	if (call_complete_until(call, &a->complete_until, err) < 0)
		return -1;
	if (of_rows ? call_check_rows(call, q->from, err) < 0
		    : freshness_days(call->freshness, COPIED_LINKS, call->ch,
				     q->from, q->to, &sealed, err) < 0)
		return -1;
	status = sealed.count ? fetch_sealed(call, q, &sealed, a, err)
			      : fetch_rows(call, q, a, err);
	copied_days_release(&sealed);
	return status;
}

/* From the raw rows of many links. */
static int fetch_many(struct call *call, const struct question *q,
		      const struct clicks_scope *scope, struct clicks_answer *a,
		      struct error *err)
{
	struct question_params n;
	struct buf sql = {0};
	int status = call_complete_until(call, &a->complete_until, err);

	if (status < 0 || call_check_rows(call, q->from, err) < 0)
		return -1;
	a->unique_error = UNIQUE_ERROR_LIVE;
	question_params_fill(&n, q, 0, 0);
	status = question_params_filter(&n, q, err);
	if (status == 0)
		status = question_params_bound(&n, call, err);
	clicks_sql_rows(&sql, q, &a->buckets, scope, false);
	if (status == 0) {
		status = run(call, &sql, &n, a, err);
		if (status < 0)
			question_params_explain(call, err);
	}
	buf_free(&sql);
	question_params_release(&n);
	return status;
}

static int fetch_all(struct call *call, const struct question *q,
		     struct clicks_answer *a, struct error *err)
{
	struct progress last;
	struct question_params n;
	struct buf sql = {0};
	int status;

	if (progress_read_last(call->ch, &last, err) < 0)
		return -1;
	question_params_fill(&n, q, 0, last.attempt);
	a->complete_until = last.complete_until;
	a->unique_error = UNIQUE_ERROR_SETTLED;
	clicks_sql_all(&sql, q, &a->buckets);
	status = run(call, &sql, &n, a, err);
	buf_free(&sql);
	return status;
}

static void cap_estimates(struct clicks_answer *a, enum bots_mode mode)
{
	for (size_t i = 0; i < a->buckets.count; i++)
		counts_cap(&a->data[i], mode);
	for (size_t i = 0; i < a->group_count; i++)
		counts_cap(&a->groups[i].counts, mode);
	counts_cap(&a->total, mode);
}

/* Do settled counts not have it? */
static bool needs_rows(const struct question *q)
{
	return q->filters.count || q->group_by_count > 1 ||
	       (q->group_by_count && q->group_by[0]->kind == DIMENSION_RAW);
}

static int clicks_fetch(struct call *call, const struct question *q,
			struct clicks_answer *ret, struct error *err)
{
	struct link_finder finder = call_finder(call);
	struct clicks_scope scope = {0};
	bool settled;
	int status;

	*ret = (struct clicks_answer){0};
	if (*q->code || q->link_id)
		status = link_find(&finder, q->code, q->link_id, &ret->link,
				   err);
	else
		status = access_check_rows(call->access, &scope.owners,
					   ACCESS_ASK_OF_ONE, err);
	settled = !ret->link.link_id && !scope.owners && !needs_rows(q);
	if (status < 0 || call_check_counts(call, q->from, err) < 0 ||
	    prepare(call, q, !settled || q->bots != BOTS_ONLY, ret, err) < 0)
		return -1;
	if (ret->link.link_id)
		status = fetch_link(call, q, ret, err);
	else if (settled)
		status = fetch_all(call, q, ret, err);
	else
		status = fetch_many(call, q, &scope, ret, err);
	if (status == 0 && ret->unique_error > 0)
		cap_estimates(ret, q->bots);
	return status;
}

static void clicks_answer_release(struct clicks_answer *a)
{
	archived_link_release(&a->link);
	buckets_release(&a->buckets);
	free(a->data);
	for (size_t i = 0; i < a->group_count; i++) {
		free(a->groups[i].value);
		free(a->groups[i].second);
	}
	free(a->groups);
}

/* --- writing ----------------------------------------------------------------
 */

/* Counts that belong to none of the groups in the answer.  Where one event has
 * several values (tags) the groups exceed the total, and there is no rest. */
static bool find_rest(const struct question *q, const struct clicks_answer *a,
		      struct counts *ret)
{
	struct counts shown = {0};

	if (!q->group_by_count)
		return false;
	for (size_t i = 0; i < q->group_by_count; i++)
		if (q->group_by[i]->kind == DIMENSION_MANY)
			return false;
	for (size_t i = 0; i < a->group_count; i++)
		counts_add(&shown, &a->groups[i].counts);
	/* Clicks can arrive between the two halves of a live query. */
	if (shown.events >= a->total.events)
		return false;
	*ret = counts_less(&a->total, &shown);
	return true;
}

static json_t *data_to_json(const struct question *q,
			    const struct clicks_answer *a)
{
	json_t *array = json_array();
	char text[ZONE_TEXT_MAX];

	for (size_t i = 0; array && i < a->buckets.count; i++) {
		json_t *item = json_pack(
			"{s:s}", "start",
			zone_format(q->zone, a->buckets.starts[i], text));

		if (!item || counts_to_json(&a->data[i], q->bots, item) < 0 ||
		    json_array_append_new(array, item) < 0)
			return NULL;
	}
	return array;
}

static json_t *groups_to_json(const struct question *q,
			      const struct clicks_answer *a)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < a->group_count; i++) {
		const struct group *g = &a->groups[i];
		json_t *item = q->group_by_count > 1
				       ? json_pack("{s:[s,s]}", "values",
						   g->value, g->second)
				       : json_pack("{s:s}", "value", g->value);

		if (!item || counts_to_json(&g->counts, q->bots, item) < 0 ||
		    json_array_append_new(array, item) < 0)
			return NULL;
	}
	return array;
}

static json_t *group_by_to_json(const struct question *q)
{
	if (q->group_by_count == 1)
		return json_string(q->group_by[0]->name);
	return json_sprintf("%s,%s", q->group_by[0]->name,
			    q->group_by[1]->name);
}

static int add_groups(const struct question *q, const struct clicks_answer *a,
		      json_t *answer)
{
	struct counts rest;
	json_t *object;

	if (!q->group_by_count)
		return 0;
	if (json_object_set_new(answer, "group_by", group_by_to_json(q)) < 0 ||
	    json_object_set_new(answer, "groups", groups_to_json(q, a)) < 0)
		return -1;
	if (!find_rest(q, a, &rest))
		return 0;
	object = json_object();
	if (!object || counts_to_json(&rest, q->bots, object) < 0)
		return -1;
	return json_object_set_new(answer, "rest", object);
}

static json_t *head_to_json(const struct question *q,
			    const struct clicks_answer *a)
{
	char from[ZONE_TEXT_MAX], to[ZONE_TEXT_MAX];
	json_t *answer = json_object();

	if (!answer)
		return NULL;
	if (a->link.link_id) {
		json_object_set_new(answer, "code", json_string(a->link.code));
		json_object_set_new(answer, "link_id",
				    json_id(a->link.link_id));
	}
	json_object_set_new(answer, "interval",
			    json_string(bucket_interval_name(q->interval)));
	json_object_set_new(answer, "tz", json_string(zone_name(q->zone)));
	json_object_set_new(answer, "from",
			    json_string(zone_format(q->zone, q->from, from)));
	json_object_set_new(answer, "to",
			    json_string(zone_format(q->zone, q->to, to)));
	json_object_set_new(answer, "bots",
			    json_string(bots_mode_name(q->bots)));
	json_object_set_new(answer, "approximate",
			    json_boolean(a->unique_error > 0));
	json_object_set_new(answer, "unique_error", json_real(a->unique_error));
	json_object_set_new(answer, "complete_until",
			    json_complete_until(a->complete_until, q->to));
	return answer;
}

json_t *clicks_to_json(const struct question *q, const struct clicks_answer *a)
{
	json_t *answer = head_to_json(q, a);
	json_t *total = json_object();

	if (!answer || !total || counts_to_json(&a->total, q->bots, total) < 0)
		goto failed;
	if (json_object_set_new(answer, "data", data_to_json(q, a)) < 0 ||
	    json_object_set(answer, "total", total) < 0 ||
	    add_groups(q, a, answer) < 0)
		goto failed;
	json_decref(total);
	return answer;
failed:
	json_decref(total);
	json_decref(answer);
	return NULL;
}

static void put_csv_names(const struct question *q, struct buf *out)
{
	for (size_t i = 0; i < q->group_by_count; i++)
		buf_printf(out, "%s,", q->group_by[i]->name);
	buf_printf(out, "%s%s\r\n", q->group_by_count ? "" : "start,",
		   counts_csv_header);
}

void clicks_to_csv(const struct question *q, const struct clicks_answer *a,
		   struct buf *out)
{
	bool groups = q->group_by_count > 0;
	size_t rows = groups ? a->group_count : a->buckets.count;
	char text[ZONE_TEXT_MAX];

	put_csv_names(q, out);
	for (size_t i = 0; i < rows; i++) {
		if (groups)
			csv_put_text(out, a->groups[i].value);
		else
			buf_puts(out, zone_format(q->zone, a->buckets.starts[i],
						  text));
		buf_putc(out, ',');
		if (q->group_by_count > 1) {
			csv_put_text(out, a->groups[i].second);
			buf_putc(out, ',');
		}
		counts_to_csv(groups ? &a->groups[i].counts : &a->data[i],
			      q->bots, out);
		buf_puts(out, "\r\n");
	}
}

/* -------------------------------------------------------------------------- */

int route_clicks(struct call *call, struct error *err)
{
	struct question q;
	struct clicks_answer a = {0};
	int status =
		question_parse(&q, call->query,
			       ASK_LINK | ASK_RANGE | ASK_INTERVAL | ASK_GROUP |
				       ASK_BOTS | ASK_FORMAT | ASK_FILTER,
			       &call->config->aggregator, call_now, call, err);

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
