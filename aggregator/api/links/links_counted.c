#include "aggregator/api/links/links_counted.h"

#include <inttypes.h>
#include <stdio.h>

#include "aggregator/api/caller_params.h"
#include "aggregator/api/published_days.h"
#include "aggregator/zone/buckets.h"
#include "aggregator/zone/civil.h"
#include "common/clickhouse/statement.h"
#include "common/clock.h"

/* The days that are counted if no range is given. */
#define DAYS 30

static int64_t day_at(int64_t at)
{
	return at / CIVIL_DAY * CIVIL_DAY;
}

static int64_t day_from(int64_t at)
{
	return day_at(at + CIVIL_DAY - 1);
}

static int64_t earlier_time(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* --- days -------------------------------------------------------------------
 */

/* The end of the whole days that there could be: today, or before. */
static int64_t last_day(const struct links_query *q)
{
	int64_t today = day_at(q->now / CLOCK_SECOND);

	return q->to >= 0 ? earlier_time(day_at(q->to), today) : today;
}

static int64_t first_day(const struct links_query *q, int64_t end)
{
	int64_t first =
		q->from >= 0 ? day_from(q->from) : end - DAYS * CIVIL_DAY;

	return first < 0 ? 0 : earlier_time(first, end);
}

/* Reads the days of the range, and those before an unknown start. */
static int read_days(struct call *call, const struct links_query *q,
		     int64_t end, const struct days_reading *reading,
		     struct published_days *ret, struct error *err)
{
	int64_t from = q->from >= 0 ? day_at(q->from)
				    : first_day(q, end) - DAYS * CIVIL_DAY,
		to = q->to >= 0 ? day_from(earlier_time(q->to,
							q->now / CLOCK_SECOND))
				: end;

	if (from < 0)
		from = 0;
	return published_days_read(call->ch, from, to > from ? to : from,
				   reading, ret, err);
}

/* Returns the end of what is counted after the days up to `until` (seconds):
 * the watermark has passed it, so that its hours are settled. */
static int64_t tail_until(const struct links_query *q, int64_t until,
			  const struct progress *last)
{
	int64_t hours = last->complete_until / CLOCK_HOUR * CLOCK_HOUR /
			CLOCK_SECOND,
		end = q->to >= 0 ? earlier_time(q->to, hours) : hours;

	return end > until && end <= until + LINKS_SLOTS_MAX * BUCKET_SLOT
		       ? end
		       : until;
}

/* Divides the range: whole days, what is before and what is after them. */
static void divide_range(struct links_query *q, int64_t from, int64_t until,
			 int64_t to)
{
	int64_t since = day_from(from);
	bool has_days = since <= until;

	q->range = (struct links_range){
		.since_day = (uint32_t)((has_days ? since : until) / CIVIL_DAY),
		.head_from = (uint32_t)(has_days ? from : until),
		.head_to = (uint32_t)(has_days ? since : until),
		.tail_from =
			(uint32_t)(has_days ? until : earlier_time(from, to)),
		.tail_to = (uint32_t)to,
	};
}

static bool has_hours(const struct links_range *r)
{
	return r->head_from < r->head_to || r->tail_from < r->tail_to;
}

/* --- single clicks ----------------------------------------------------------
 */

static int count_rows(struct call *call, const struct links_query *q,
		      const struct caller_params *caller, struct error *err)
{
	static const char text[] =
#include "aggregator/sql/links_hours.sql.inc"
		;
	static const struct statement_blank blanks[] = {{"of_hours", NULL},
							{NULL, NULL}};
	const struct links_range *r = &q->range;
	const uint32_t times[] = {r->head_from, r->head_to, r->tail_from,
				  r->tail_to};
	char texts[4][24], most[24];
	const struct clickhouse_param params[] = {{"param_head_from", texts[0]},
						  {"param_head_to", texts[1]},
						  {"param_tail_from", texts[2]},
						  {"param_tail_to", texts[3]},
						  {"max_rows_to_read", most},
						  caller->items[0],
						  caller->items[1],
						  caller->items[2],
						  caller->items[3],
						  {NULL, NULL}};
	struct buf sql = {0};
	uint64_t rows = 0;
	int status;

	for (size_t i = 0; i < 4; i++)
		snprintf(texts[i], sizeof(texts[i]), "%" PRIu32, times[i]);
	snprintf(most, sizeof(most), "%" PRId64,
		 call->config->aggregator.raw_rows_max);
	statement_put(&sql, text, blanks);
	status = buf_cstr(&sql) ? clickhouse_numbers(call->ch, sql.data, params,
						     &rows, 1, err)
				: error_set_nomem(err);
	buf_free(&sql);
	return status;
}

/* More rows than raw_rows_max: those after the days are left out, unless they
 * are of a range that was given. */
static int leave_hours(const struct call *call, struct links_query *q,
		       struct error *err)
{
	*err = (struct error){0};
	if (q->from >= 0 || q->to >= 0) {
		error_set(err, ERROR_INPUT,
			  "from, to: single clicks of the parts of a day would "
			  "have to be counted, and they are more than %" PRId64
			  " (setting raw_rows_max): give whole days of UTC",
			  call->config->aggregator.raw_rows_max);
		return error_name_field(err, "from");
	}
	q->range.tail_to = q->range.tail_from;
	return 0;
}

/* A caller that does not see all accounts has its hours counted in rows, on
 * each page. */
static int limit_rows(struct call *call, struct links_query *q,
		      struct error *err)
{
	const struct links_range *r = &q->range;
	struct caller_params caller;
	int status;

	if (!has_hours(r) || !links_query_is_bounded(q))
		return 0;
	if (call_check_rows(call,
			    r->head_from < r->head_to ? r->head_from
						      : r->tail_from,
			    err) < 0)
		return -1;
	status = caller_params_fill(&caller, q->bounds, err);
	if (status == 0)
		status = count_rows(call, q, &caller, err);
	if (status < 0 && call_exceeded_rows(call))
		status = leave_hours(call, q, err);
	caller_params_release(&caller);
	return status;
}

/* --- the range --------------------------------------------------------------
 */

static bool lacks_clicks(const struct links_query *q,
			 const struct published_day *day)
{
	bool is_whole = day->start >= q->range.since_day * CIVIL_DAY &&
			day->start < q->at.until_day * CIVIL_DAY;
	int64_t from = q->range.head_from < q->range.head_to
			       ? day_at(q->range.head_from)
			       : q->range.since_day * CIVIL_DAY;

	return is_whole ? !day->attempt || day->waiting
			: day->waiting && day->start >= from &&
				  day->start < q->range.tail_to;
}

static int add_waiting(struct links_counted *counted,
		       const struct links_query *q,
		       const struct published_days *days, struct error *err)
{
	char name[CIVIL_NAME_MAX];

	for (size_t i = 0; i < days->count; i++)
		if (lacks_clicks(q, &days->items[i]) &&
		    json_array_append_new(
			    counted->waiting,
			    json_string(civil_day_name(days->items[i].start,
						       name))) < 0)
			return error_set_nomem(err);
	return 0;
}

/* A range that ends by itself grows, and its last hours have not all clicks. */
static bool is_complete(const struct links_query *q,
			const struct links_counted *counted,
			const struct published_days *days,
			const struct progress *last)
{
	int64_t since = q->range.since_day * CIVIL_DAY,
		until = q->at.until_day * CIVIL_DAY;

	if (since < until && published_days_complete_until(days, since, last) <
				     until * CLOCK_SECOND)
		return false;
	return q->to >= 0 ? counted->to == q->to &&
				    json_array_size(counted->waiting) == 0
			  : counted->to == until;
}

static int fill_counted(struct call *call, struct links_query *q,
			const struct published_days *days,
			const struct progress *last, struct links_counted *ret,
			struct error *err)
{
	int64_t until = q->at.until_day * CIVIL_DAY, kept,
		from = q->from >= 0 ? q->from : until - DAYS * CIVIL_DAY,
		to = q->at.until_slot * BUCKET_SLOT;

	if (call_counts_from(call, &kept, err) < 0)
		return -1;
	if (from < kept)
		from = earlier_time(kept, q->from >= 0 ? to : until);
	divide_range(q, from < 0 ? 0 : from, until, to);
	if (limit_rows(call, q, err) < 0)
		return -1;
	to = q->range.tail_to;
	q->at.until_slot = (uint32_t)(to / BUCKET_SLOT);
	*ret = (struct links_counted){
		.from = from < 0 ? 0 : from,
		.to = to,
		.provisional = q->range.tail_from,
		.waiting = json_array(),
		.lower_bound =
			!links_query_is_bounded(q) && has_hours(&q->range),
	};
	if (!ret->waiting)
		return error_set_nomem(err);
	if (add_waiting(ret, q, days, err) < 0)
		return -1;
	ret->complete = is_complete(q, ret, days, last);
	return 0;
}

int links_counted_read(struct call *call, struct links_query *q,
		       struct links_counted *ret, struct error *err)
{
	bool is_first = !q->at.until_day;
	struct published_days days = {0};
	struct days_reading reading;
	int64_t end = is_first ? last_day(q) : q->at.until_day * CIVIL_DAY;
	int status;

	if (!q->has_clicks)
		return 0;
	if (call_days_reading(call, &reading, err) < 0 ||
	    read_days(call, q, end, &reading, &days, err) < 0)
		return -1;
	if (is_first) {
		/* The days have that of the range's last part, too. */
		end = earlier_time(end, published_days_settled_until(
						&days, first_day(q, end), end,
						&reading.last));
		q->at.until_day = (uint32_t)(end / CIVIL_DAY);
		q->at.until_slot =
			(uint32_t)(tail_until(q, end, &reading.last) /
				   BUCKET_SLOT);
	}
	status = fill_counted(call, q, &days, &reading.last, ret, err);
	published_days_release(&days);
	return status;
}

void links_counted_release(struct links_counted *counted)
{
	json_decref(counted->waiting);
	counted->waiting = NULL;
}

json_t *links_counted_to_json(const struct links_counted *counted)
{
	char from[RFC3339_TEXT_MAX], to[RFC3339_TEXT_MAX],
		provisional[RFC3339_TEXT_MAX];

	rfc3339_format(counted->from * CLOCK_SECOND, from);
	rfc3339_format(counted->to * CLOCK_SECOND, to);
	rfc3339_format(counted->provisional * CLOCK_SECOND, provisional);
	return json_pack("{s:s, s:s, s:s, s:b, s:b, s:O}", "from", from, "to",
			 to, "provisional_from", provisional, "complete",
			 counted->complete, "lower_bound", counted->lower_bound,
			 "waiting", counted->waiting);
}
