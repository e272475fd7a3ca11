#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "aggregator/api/call.h"
#include "aggregator/api/caller_params.h"
#include "aggregator/api/published_days.h"
#include "aggregator/api/statistics/clicks_sql.h"
#include "aggregator/api/statistics/question.h"
#include "aggregator/api/statistics/shared_question.h"
#include "aggregator/zone/civil.h"
#include "common/clickhouse/rows.h"
#include "common/clickhouse/statement.h"
#include "common/clock.h"

/* The default number of days. */
#define DAYS INT64_C(30)

/* Visitors of rows and of sets of digests are both counted exactly, as for GET
 * /v1/clicks. */
#define UNIQUE_ERROR 0.0

enum {
	COUNTS = 7
};
static const struct day_count {
	const char *name;
	bool is_distinct;
} day_counts[COUNTS] = {{"pv", false},	       {"uv", true},
			{"ip", true},	       {"human_uv", true},
			{"human_ip", true},    {"effective", false},
			{"ineffective", false}};

struct statistics {
	int64_t from;		/* seconds since 1970 */
	int64_t complete_until; /* ms since 1970 */
	bool waiting;		/* a day is */
	int64_t now;		/* ClickHouse's clock, ms since 1970 */
	bool no_visitors;	/* of provisional days: they have many rows */
	size_t count;
	struct day {
		uint64_t attempt; /* 0: not settled */
		bool complete, waiting;
		bool provisional; /* not settled, and counted in rows */
		uint64_t counts[COUNTS];
	} * days;
};

/* Returns NULL if the day was not asked for. */
static struct day *day_at(const struct statistics *s, int64_t start)
{
	int64_t at = (start - s->from) / CIVIL_DAY;

	return at < 0 || (size_t)at >= s->count ? NULL : &s->days[at];
}

/* A row is: start of a day, attempt, and counts of it. */
static int take_counts(void *arg, char **f, struct error *err)
{
	struct day *day = day_at(arg, tsv_i64(f[0]));

	(void)err;
	if (!day || tsv_u64(f[1]) != day->attempt)
		return 0;
	for (size_t i = 0; i < COUNTS; i++)
		day->counts[i] = tsv_u64(f[2 + i]);
	return 0;
}

static int find_days(struct call *call, const struct question *q,
		     struct statistics *s, struct error *err)
{
	struct published_days days = {0};
	struct days_reading reading;

	s->from = q->from;
	s->count = (size_t)((q->to - q->from) / CIVIL_DAY);
	s->days = calloc(s->count, sizeof(*s->days));
	if (!s->days)
		return error_set_nomem(err);
	if (call_days_reading(call, &reading, err) < 0 ||
	    published_days_read(call->ch, q->from, q->to, &reading, &days,
				err) < 0)
		return -1;
	s->now = reading.now;
	s->complete_until =
		published_days_complete_until(&days, q->from, &reading.last);
	for (size_t i = 0; i < days.count; i++) {
		struct day *day = day_at(s, days.items[i].start);

		if (!day)
			continue;
		day->attempt = days.items[i].attempt;
		day->complete = days.items[i].complete;
		day->waiting = days.items[i].waiting;
		s->waiting |= day->waiting;
	}
	published_days_release(&days);
	return 0;
}

/* --- days that are not settled --------------------------------------------
 *
 * Today, and yesterday until it is settled, are counted in rows: their figures
 * are provisional.
 */

/* Marks these days; returns the first, or -1 if there is none. */
static int64_t mark_provisional(struct statistics *s)
{
	int64_t today = s->now / CLOCK_DAY * CIVIL_DAY, first = -1;

	for (int64_t start = today; start >= today - CIVIL_DAY;
	     start -= CIVIL_DAY) {
		struct day *day = day_at(s, start);

		if (!day || day->attempt)
			continue;
		day->provisional = true;
		first = start;
	}
	return first;
}

static void put_rows_query(struct buf *sql, const struct question *open,
			   bool no_visitors)
{
	static const char text[] =
#include "aggregator/sql/visit_days_of_rows.sql.inc"
		;
	static const char counts[] =
#include "aggregator/sql/parts/day_counts_of_rows.sql.inc"
		;
	static const char events[] =
#include "aggregator/sql/parts/day_events_of_rows.sql.inc"
		;
	const struct clicks_scope scope = {.link = true};
	struct buf rows = {0};

	clicks_sql_from_rows(&rows, open, &scope);
	const struct statement_blank blanks[] = {
		{"counts", no_visitors ? events : counts},
		{"rows", statement_piece(sql, &rows)},
		{NULL, NULL}};

	statement_put(sql, text, blanks);
	buf_free(&rows);
}

/* Visitors are exact or null, as those of settled days are exact. */
static int check_size(struct call *call, const struct clickhouse_param *params,
		      struct statistics *s, struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/rows_of_link.sql.inc"
		;
	uint64_t rows = 0;

	if (clickhouse_numbers(call->ch, sql, params, &rows, 1, err) < 0)
		return -1;
	s->no_visitors =
		rows > (uint64_t)call->config->aggregator.exact_rows_max;
	return 0;
}

static int fetch_provisional(struct call *call, const struct question *q,
			     struct clickhouse_param *params, char from[24],
			     struct statistics *s, struct error *err)
{
	struct question open = *q;
	struct buf sql = {0};
	int status;

	open.from = mark_provisional(s);
	if (open.from < 0)
		return 0;
	open.marked = call->marked;
	snprintf(from, 24, "%" PRId64, open.from);
	if (check_size(call, params, s, err) < 0)
		return -1;
	put_rows_query(&sql, &open, s->no_visitors);
	status =
		buf_cstr(&sql)
			? clickhouse_rows(call->ch, sql.data, params,
					  clickhouse_number_columns(2 + COUNTS),
					  take_counts, s, err)
			: error_set_nomem(err);
	buf_free(&sql);
	return status;
}

/* -------------------------------------------------------------------------- */

/* A link without a row on a published day had no visits then.  Rows of an
 * attempt stay for keep_superseded after another one was published. */
static int fetch_link_days(struct call *call, const struct question *q,
			   uint64_t link_id, struct statistics *s,
			   struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/link_days_of_link.sql.inc"
		;
	struct caller_params caller;
	char id[24], from[24], to[24];
	int status = caller_params_of(&caller, call->access, err);
	struct clickhouse_param params[] = {
		{"param_link_id", id}, {"param_from", from}, {"param_to", to},
		caller.items[0],       caller.items[1],	     caller.items[2],
		caller.items[3],       {NULL, NULL}};

	snprintf(id, sizeof(id), "%" PRIu64, link_id);
	snprintf(from, sizeof(from), "%" PRId64, q->from);
	snprintf(to, sizeof(to), "%" PRId64, q->to);
	if (status == 0)
		status = find_days(call, q, s, err);
	if (status == 0)
		status = clickhouse_rows(call->ch, sql, params,
					 clickhouse_number_columns(2 + COUNTS),
					 take_counts, s, err);
	if (status == 0)
		status = fetch_provisional(call, q, params, from, s, err);
	caller_params_release(&caller);
	return status;
}

/* --- the answer -----------------------------------------------------------
 */

static bool is_known(const struct statistics *s, const struct day *d, size_t i)
{
	return d->attempt || (d->provisional &&
			      !(s->no_visitors && day_counts[i].is_distinct));
}

static json_t *day_to_json(const struct statistics *s, const struct day *d,
			   int64_t start)
{
	char name[CIVIL_NAME_MAX];
	json_t *object = json_pack(
		"{s:s, s:b, s:b, s:b, s:b}", "day", civil_day_name(start, name),
		"settled", d->attempt > 0, "provisional", d->provisional,
		"complete", d->complete, "waiting", d->waiting);

	for (size_t i = 0; object && i < COUNTS; i++)
		json_object_set_new(object, day_counts[i].name,
				    is_known(s, d, i) ? json_count(d->counts[i])
						      : json_null());
	return object;
}

static json_t *to_json(const struct statistics *s, const struct question *q,
		       const struct archived_link *link)
{
	json_t *days = json_array();

	for (size_t i = 0; days && i < s->count; i++) {
		int64_t start = s->from + (int64_t)i * CIVIL_DAY;

		if (json_array_append_new(
			    days, day_to_json(s, &s->days[i], start)) < 0) {
			json_decref(days);
			return NULL;
		}
	}
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:b, s:b, s:b, s:f, s:o}",
			 "code", link->code, "link_id", json_id(link->link_id),
			 "from", json_time(q->from * 1000), "to",
			 json_time(q->to * 1000), "complete_until",
			 json_complete_until(s->complete_until, q->to),
			 "complete", s->complete_until >= q->to * 1000,
			 "waiting", s->waiting, "approximate", UNIQUE_ERROR > 0,
			 "unique_error", UNIQUE_ERROR, "days", days);
}

static void day_to_csv(const struct statistics *s, const struct day *d,
		       int64_t start, struct buf *out)
{
	char name[CIVIL_NAME_MAX];

	buf_printf(out, "%s,%d", civil_day_name(start, name), d->attempt > 0);
	for (size_t i = 0; i < COUNTS; i++) {
		buf_putc(out, ',');
		if (is_known(s, d, i))
			buf_printf(out, "%" PRIu64, d->counts[i]);
	}
	buf_printf(out, ",%d,%d,%d\r\n", d->complete, d->waiting,
		   d->provisional);
}

static void to_csv(const struct statistics *s, struct buf *out)
{
	buf_puts(out, "day,settled");
	for (size_t i = 0; i < COUNTS; i++)
		buf_printf(out, ",%s", day_counts[i].name);
	buf_puts(out, ",complete,waiting,provisional\r\n");
	for (size_t i = 0; i < s->count; i++)
		day_to_csv(s, &s->days[i], s->from + (int64_t)i * CIVIL_DAY,
			   out);
}

/* --- the question ---------------------------------------------------------
 */

/* If no start was given, the range begins with the first day kept. */
static int clamp_start(struct call *call, struct question *q, struct error *err)
{
	int64_t kept;

	if (q->has_from)
		return 0;
	if (call_counts_from(call, &kept, err) < 0)
		return -1;
	if (q->from < kept && kept < q->to)
		q->from = kept;
	return 0;
}

static int check_range(struct call *call, struct question *q, struct error *err)
{
	if (clamp_start(call, q, err) < 0)
		return -1;
	if ((q->to - q->from) / CIVIL_DAY >
	    call->config->aggregator.buckets_max) {
		error_set(err, ERROR_INPUT,
			  "from, to: more than %" PRId64
			  " days (setting buckets_max)",
			  call->config->aggregator.buckets_max);
		return error_name_field(err, "from");
	}
	return 0;
}

static int read_question(struct call *call, struct question *q,
			 struct error *err)
{
	if (shared_question_parse_days(
		    q, call, ASK_LINK | ASK_RANGE | ASK_FORMAT, DAYS, err) < 0)
		return -1;
	if (!*q->code && !q->link_id)
		return parameters_refuse_both("code", "link_id", err);
	if (shared_question_check_link(call, err) < 0)
		return -1;
	if (check_range(call, q, err) < 0)
		return -1;
	return call_check_counts(call, q->from, err);
}

int route_visit_statistics(struct call *call, struct error *err)
{
	struct link_finder finder = call_finder(call);
	struct archived_link link = {0};
	struct statistics s = {0};
	struct question q;
	int status = read_question(call, &q, err);

	if (status == 0)
		status = link_find(&finder, q.code, q.link_id, &link, err);
	if (status == 0)
		status = fetch_link_days(call, &q, link.link_id, &s, err);
	if (status == 0 && q.csv) {
		to_csv(&s, &call->body);
		call_set_quality(call, UNIQUE_ERROR, false);
		call_set_completeness(call, s.complete_until, q.to,
				      s.complete_until >= q.to * 1000,
				      s.waiting);
		status = call_finish_csv(call, err);
	} else if (status == 0) {
		status = call_finish_json(call, to_json(&s, &q, &link), err);
	}
	free(s.days);
	archived_link_release(&link);
	question_release(&q);
	return status;
}
