#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/api/call.h"
#include "aggregator/api/links/archive.h"
#include "aggregator/api/statistics/clicks_sql.h"
#include "aggregator/api/statistics/counts.h"
#include "aggregator/api/statistics/first_counts.h"
#include "aggregator/api/statistics/owner_clicks.h"
#include "aggregator/api/statistics/owner_sql.h"
#include "aggregator/api/statistics/question_params.h"
#include "aggregator/api/statistics/shared_question.h"
#include "aggregator/api/statistics/total_clicks.h"
#include "aggregator/api/statistics/total_sql.h"
#include "common/clickhouse/rows.h"
#include "common/clickhouse/statement.h"

/*
 * The busiest links, or those whose clicks grow most.  They are counted first,
 * in settled hours, or in rows where hours lack the answer (filters, the links
 * of one account).  Then the archive supplies their URLs, and rows supply the
 * codes of links that the archive does not have yet.
 */

/* Bytes of a statement that names as many links as `groups_max` may allow, each
 * twice by 20 digits.  The server's default limit is 256 KiB. */
#define QUERY_SIZE "1048576"

struct top_link {
	uint64_t link_id;
	struct counts counts;
	uint64_t before;		    /* clicks in the range before */
	char *code, *url, *account, *owner; /* NULL: not known */
	bool forgotten;			    /* no answer contains it */
};

struct top {
	struct call *call;
	const struct question *q;
	struct question read; /* q, from the start of the range before */
	struct clicks_scope scope;
	bool of_rows;
	struct owner_answer owners; /* if it has days, they answer */
	struct total_answer total;  /* used unless of_rows */
	int64_t complete_until;	    /* ms since 1970 */
	bool waits; /* stored clicks of the ranges may not be counted yet */
	bool lower_bound;	/* true: hours left links out */
	struct top_link *links; /* the busiest first */
	size_t count;
	struct top_link **by_id; /* ascending */
};

static void top_release(struct top *t)
{
	for (size_t i = 0; i < t->count; i++) {
		free(t->links[i].code);
		free(t->links[i].url);
		free(t->links[i].account);
		free(t->links[i].owner);
	}
	free(t->links);
	free(t->by_id);
	owner_answer_release(&t->owners);
	total_answer_release(&t->total);
}

/* --- counts --------------------------------------------------------------- */

static const char top_links[] =
#include "aggregator/sql/top_links.sql.inc"
	;
static const char links_of_rows[] =
#include "aggregator/sql/parts/links_of_rows.sql.inc"
	;

static void put_links_of_rows(struct buf *sql, const struct top *t)
{
	static const char is_now[] =
		"ts >= toDateTime64({start:UInt32}, 3, 'UTC')";
	struct buf rows = {0};

	clicks_sql_from_rows(&rows, t->q, &t->scope);
	statement_put(sql, links_of_rows,
		      (const struct statement_blank[]){
			      {"is_now", t->q->by_growth ? is_now : "true"},
			      {"rows", statement_piece(sql, &rows)},
			      {NULL, NULL},
		      });
	buf_free(&rows);
}

/* Selects link, is_now, n_events, n_clicks, n_bots and n_prefetches, with a row
 * for each of the two ranges. */
static void put_counted(struct buf *sql, const struct top *t)
{
	struct total_sources from;

	if (t->owners.days.count) {
		owner_sql_links(sql, &t->read, &t->owners.days);
		return;
	}
	if (t->of_rows) {
		put_links_of_rows(sql, t);
		return;
	}
	from = total_answer_sources(&t->total);
	total_sql_links(sql, &t->read, &from);
}

static void put_busiest(struct buf *sql, const struct top *t)
{
	bool grows = t->q->by_growth;
	struct buf counted = {0};

	put_counted(&counted, t);
	statement_put(sql, top_links,
		      (const struct statement_blank[]){
			      {"left", clicks_sql_left(t->q->bots)},
			      {"rank", grows ? "m_left - m_before" : "m_left"},
			      {"counted", statement_piece(sql, &counted)},
			      {NULL, NULL},
		      });
	buf_free(&counted);
}

static int take_counts(void *arg, char **f, struct error *err)
{
	struct top *t = arg;

	(void)err;
	if (t->count < t->q->limit)
		t->links[t->count++] = (struct top_link){
			.link_id = tsv_u64(f[0]),
			.counts = counts_read(f + 1),
			.before = tsv_u64(f[7]),
		};
	return 0;
}

/* Runs a query and frees its text.  ERROR_INPUT if it would read more rows than
 * the parameters allow. */
static int run_bounded_query(struct top *t, struct buf *sql,
			     const struct question_params *params,
			     const char *columns, clickhouse_row_fn *take,
			     struct error *err)
{
	int status = buf_cstr(sql) ? clickhouse_rows(t->call->ch, sql->data,
						     params->items, columns,
						     take, t, err)
				   : error_set_nomem(err);

	buf_free(sql);
	if (status < 0)
		question_params_explain(t->call, err);
	return status;
}

static bool is_settled(const struct top *t)
{
	return !t->of_rows && !t->owners.days.count;
}

static int count_top_links(struct top *t, const struct question_params *params,
			   struct error *err)
{
	static const char columns[] = "n" COUNTS_COLUMNS "nn";
	struct buf sql = {0};
	int status;

	t->links = calloc(t->q->limit, sizeof(*t->links));
	if (!t->links)
		return error_set_nomem(err);
	put_busiest(&sql, t);
	if (is_settled(t)) {
		status = total_answer_rows(&t->total, t->call, &sql, columns,
					   take_counts, t, err);
		buf_free(&sql);
		if (status < 0)
			question_params_explain(t->call, err);
	} else {
		status = run_bounded_query(t, &sql, params, columns,
					   take_counts, err);
	}
	return status;
}

/* A row is: the number of events. */
static int take_left_out(void *arg, char **f, struct error *err)
{
	struct top *t = arg;

	(void)err;
	t->lower_bound = tsv_u64(f[0]) > 0;
	return 0;
}

/* Finds out whether links were left out.  Rows leave none out. */
static int find_left_out(struct top *t, const struct question_params *params,
			 struct error *err)
{
	struct total_sources from;
	struct buf sql = {0};
	int status;

	if (t->owners.days.count) {
		owner_sql_links_left_out(&sql);
		return run_bounded_query(t, &sql, params, "n", take_left_out,
					 err);
	}
	if (!is_settled(t))
		return 0;
	from = total_answer_sources(&t->total);
	total_sql_links_left_out(&sql, &t->read, &from);
	status = total_answer_rows(&t->total, t->call, &sql, "n", take_left_out,
				   t, err);
	buf_free(&sql);
	return status;
}

/* --- codes and URLs ------------------------------------------------------- */

static int compare_ids(const void *a, const void *b)
{
	uint64_t one = (*(struct top_link *const *)a)->link_id;
	uint64_t other = (*(struct top_link *const *)b)->link_id;

	return (one > other) - (one < other);
}

static int index_links_by_id(struct top *t, struct error *err)
{
	t->by_id = calloc(t->count + 1, sizeof(struct top_link *));
	if (!t->by_id)
		return error_set_nomem(err);
	for (size_t i = 0; i < t->count; i++)
		t->by_id[i] = &t->links[i];
	qsort(t->by_id, t->count, sizeof(struct top_link *), compare_ids);
	return 0;
}

/* Returns NULL if the link was not asked for. */
static struct top_link *find_top_link(const struct top *t, uint64_t link_id)
{
	const struct top_link wanted = {.link_id = link_id};
	const struct top_link *key = &wanted;
	struct top_link **found =
		bsearch(&key, t->by_id, t->count, sizeof(key), compare_ids);

	return found ? *found : NULL;
}

/* Called once for each link. */
static int set_link_details(struct top_link *link, const char *code,
			    const char *url, const struct key_link *whose,
			    struct error *err)
{
	link->code = strdup(code);
	link->url = strdup(url);
	link->account = strdup(whose->account);
	link->owner = strdup(whose->owner);
	return link->code && link->url && link->account && link->owner
		       ? 0
		       : error_set_nomem(err);
}

/* A row is: link_id, code, url, owner, account, state.  A link that is no
 * longer the caller's is treated like one that the archive does not have. */
static int take_archived(void *arg, char **f, struct error *err)
{
	const struct key_link whose = {.owner = f[3], .account = f[4]};
	struct top *t = arg;
	struct top_link *link = find_top_link(t, tsv_u64(f[0]));

	if (!link || link->code)
		return 0;
	link->forgotten = !strcmp(f[5], ARCHIVE_FORGOTTEN);
	if (link->forgotten || !access_sees_link(t->call->access, &whose))
		return 0;
	return set_link_details(link, f[1], f[2], &whose, err);
}

/* A row is: link_id, code, and account and owner at a click. */
static int take_clicked(void *arg, char **f, struct error *err)
{
	const struct key_link whose = {.account = f[2], .owner = f[3]};
	struct top *t = arg;
	struct top_link *link = find_top_link(t, tsv_u64(f[0]));

	return !link || link->code
		       ? 0
		       : set_link_details(link, f[1], "", &whose, err);
}

/* Appends the link_ids of links that have no code yet and need one; false if
 * there are none. */
static bool put_nameless(struct buf *ids, const struct top *t)
{
	for (size_t i = 0; i < t->count; i++) {
		if (!t->links[i].code && !t->links[i].forgotten)
			buf_printf(ids, "%s%" PRIu64, ids->len ? "," : "",
				   t->links[i].link_id);
	}
	return ids->len > 0 || ids->failed;
}

static const char top_links_archived[] =
#include "aggregator/sql/top_links_archived.sql.inc"
	;

/* Reads only the counted links, however many the archive has. */
static int ask_archive(struct top *t, struct error *err)
{
	static const struct question_params how = {
		.items = {{"max_query_size", QUERY_SIZE}}};
	struct buf ids = {0}, sql = {0};
	int status;

	if (!put_nameless(&ids, t))
		return 0;
	archive_put_by_ids(&sql, top_links_archived, &ids);
	status = run_bounded_query(t, &sql, &how, "nsssss", take_archived, err);
	buf_free(&ids);
	return status;
}

static const char top_links_of_rows[] =
#include "aggregator/sql/top_links_of_rows.sql.inc"
	;

static void put_nameless_of_rows(struct buf *sql, const struct top *t,
				 struct buf *ids)
{
	struct buf rows = {0};

	clicks_sql_from_rows(&rows, t->q, &t->scope);
	statement_put(sql, top_links_of_rows,
		      (const struct statement_blank[]){
			      {"rows", statement_piece(sql, &rows)},
			      {"ids", statement_piece(sql, ids)},
			      {NULL, NULL},
		      });
	buf_free(&rows);
}

static int ask_rows(struct top *t, const struct question_params *params,
		    struct error *err)
{
	struct buf ids = {0}, sql = {0};
	int status;

	if (!put_nameless(&ids, t))
		return 0;
	put_nameless_of_rows(&sql, t, &ids);
	status = run_bounded_query(t, &sql, params, "nsss", take_clicked, err);
	buf_free(&ids);
	return status;
}

static int fetch_top_links(struct top *t, struct error *err)
{
	struct question_params params, *counted = &params;
	char start[24];
	int status;

	question_params_fill(&params, &t->read, 0, 0);
	status = question_params_filter(&params, &t->read, err);
	snprintf(start, sizeof(start), "%" PRId64, t->q->from);
	if (status == 0 && t->of_rows)
		status =
			question_params_bound(&params, t->call, INT64_MAX, err);
	if (t->owners.days.count)
		counted = &t->owners.params;
	else if (!t->of_rows)
		counted = &t->total.params;
	question_params_add(counted, "param_start", start);
	if (status == 0)
		status = count_top_links(t, counted, err);
	if (status == 0)
		status = find_left_out(t, counted, err);
	if (status == 0)
		status = index_links_by_id(t, err);
	if (status == 0)
		status = ask_archive(t, err);
	if (status == 0)
		status = ask_rows(t, &params, err);
	question_params_release(&params);
	return status;
}

/* --- the answer ----------------------------------------------------------- */

/* Prepares owners' tables, or rows if these lack the answer. */
static int prepare_rows(struct top *t, struct error *err)
{
	if (call_complete_until(t->call, &t->complete_until, err) < 0 ||
	    owner_answer_prepare(&t->owners, t->call, &t->read, true,
				 t->q->from, err) < 0)
		return -1;
	return t->owners.days.count
		       ? 0
		       : call_check_rows(t->call, t->read.from, err);
}

/* Checks that counts and rows are kept, and finds up to when they are complete.
 */
static int prepare_count_source(struct top *t, struct error *err)
{
	int64_t length = t->q->to - t->q->from;

	t->read = *t->q;
	if (t->q->by_growth)
		t->read.from = t->q->from > length ? t->q->from - length : 0;
	if (shared_question_check_range(t->call, t->read.from, t->q->to, err) <
		    0 ||
	    owner_question_check(t->q, t->call->access, err) < 0 ||
	    call_check_counts(t->call, t->read.from, err) < 0 ||
	    freshness_waits(t->call->freshness, t->call->ch, t->read.from,
			    t->q->to, &t->waits, err) < 0)
		return -1;
	t->scope.bounded = !access_sees_all(t->call->access);
	t->of_rows = t->scope.bounded || t->q->filters.count;
	if (t->of_rows)
		return prepare_rows(t, err);
	if (total_answer_prepare(&t->total, t->call, &t->read, t->q->from,
				 err) < 0)
		return -1;
	t->complete_until = t->total.complete_until;
	return 0;
}

static json_t *link_to_json(const struct top_link *link,
			    const struct question *q)
{
	json_t *item = json_pack("{s:s, s:o, s:s, s:s, s:s}", "code",
				 link->code ? link->code : "", "link_id",
				 json_id(link->link_id), "url",
				 link->url ? link->url : "", "account",
				 link->account ? link->account : "", "owner",
				 link->owner ? link->owner : "");

	if (!item || counts_to_json(&link->counts, q->bots, item) < 0 ||
	    (q->by_growth &&
	     json_object_set_new(item, "clicks_before",
				 json_count(link->before)) < 0)) {
		json_decref(item);
		return NULL;
	}
	/* Distinct visitors are not kept per link. */
	json_object_del(item, "visitors");
	json_object_del(item, "ips");
	return item;
}

static json_t *to_json(const struct top *t)
{
	const struct question *q = t->q;
	char from[ZONE_TEXT_MAX], to[ZONE_TEXT_MAX];
	json_t *links = json_array();

	for (size_t i = 0; i < t->count; i++) {
		if (t->links[i].forgotten)
			continue;
		if (json_array_append_new(links,
					  link_to_json(&t->links[i], q)) < 0) {
			json_decref(links);
			return NULL;
		}
	}
	return json_pack(
		"{s:s, s:s, s:s, s:s, s:s, s:o, s:b, s:b, s:b, s:o}", "tz",
		zone_name(q->zone), "from", zone_format(q->zone, q->from, from),
		"to", zone_format(q->zone, q->to, to), "bots",
		bots_mode_name(q->bots), "sort",
		q->by_growth ? "growth" : "clicks", "complete_until",
		json_complete_until(t->complete_until, q->to), "complete",
		!t->waits && t->complete_until >= q->to * 1000, "waiting",
		t->waits, "lower_bound", t->lower_bound, "links", links);
}

int route_top(struct call *call, struct error *err)
{
	static const struct archived_link all_links;
	struct question q;
	struct top t = {.call = call, .q = &q};
	int status =
		shared_question_parse(&q, call,
				      ASK_RANGE | ASK_PERIOD | ASK_BOTS |
					      ASK_LIMIT | ASK_SORT | ASK_FILTER,
				      err);

	q.marked = call->marked;
	if (status == 0 && q.period == PERIOD_ALL)
		status = first_counts_begin(call, &all_links, &q, err);
	if (status == 0)
		status = prepare_count_source(&t, err);
	if (status == 0)
		status = fetch_top_links(&t, err);
	if (status == 0)
		status = call_finish_json(call, to_json(&t), err);
	if (status == 0)
		call->polled = (struct polled){.may_be = true,
					       .of_rows = t.of_rows,
					       .from = t.read.from,
					       .to = q.to,
					       .until = q.to};
	top_release(&t);
	question_release(&q);
	return status;
}
