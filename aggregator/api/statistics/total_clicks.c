#include "aggregator/api/statistics/total_clicks.h"

#include "aggregator/api/answer_cache.h"
#include "aggregator/api/freshness.h"
#include "aggregator/api/published_hours.h"
#include "aggregator/api/statistics/whole_days.h"
#include "aggregator/progress.h"

/* At this number of hours, a longer statement costs as much as it saves.  Only
 * ranges with days that are not in stats_spans yet have more hours. */
#define HOURS_LISTED_MAX 400

/* The kept lists may be some seconds old: they are used unless hours were
 * published since.  Otherwise all lists are read. */
static int read_days(struct total_answer *t, struct call *call,
		     const struct question *q, const struct progress *last,
		     struct error *err)
{
	bool daily = question_groups_daily(q);
	struct copied_days all[COPIED_KINDS];
	struct fresh fresh;

	if (!freshness_get(call->freshness, &fresh) ||
	    fresh.published.attempt < last->attempt) {
		if (copied_days_read_all(call->ch, all, err) < 0)
			return -1;
		t->days = all[COPIED_TOTALS];
		all[COPIED_TOTALS] = (struct copied_days){0};
		if (daily) {
			t->valued = all[COPIED_VALUES];
			all[COPIED_VALUES] = (struct copied_days){0};
		}
		for (size_t i = 0; i < COPIED_KINDS; i++)
			copied_days_release(&all[i]);
		return 0;
	}
	if (freshness_days(call->freshness, COPIED_TOTALS, call->ch, q->from,
			   q->to, &t->days, err) < 0)
		return -1;
	return daily ? freshness_days(call->freshness, COPIED_VALUES, call->ch,
				      q->from, q->to, &t->valued, err)
		     : 0;
}

/* Keeps the days with values, for groups by a dimension that only days have. */
static int keep_valued(struct total_answer *t, struct call *call,
		       const struct question *q, int64_t at, struct error *err)
{
	if (!question_groups_daily(q))
		return 0;
	if (whole_days_keep(&t->valued, q, at, "counts", err) < 0)
		return -1;
	if (q->from < t->valued.days_from) {
		t->valued.count = 0;
		return call_check_rows(call, q->from, err);
	}
	/* The total of days that both have is read from the rollup. */
	copied_days_keep_common(&t->days, &t->valued);
	return copied_days_put(&t->valued, &t->valued_starts,
			       &t->valued_attempts, err);
}

/* Lists the other hours if they are few: those of days that are not over, or
 * not long over. */
static int list_hours(struct total_answer *t, struct published_hours *hours,
		      struct error *err)
{
	published_hours_leave_out(hours, &t->days);
	t->listed = hours->count <= HOURS_LISTED_MAX;
	if (!t->listed)
		return 0;
	if (published_hours_put(hours, &t->hours, &t->hour_attempts, err) < 0)
		return -1;
	question_params_add(&t->params, "param_hours", t->hours.data);
	question_params_add(&t->params, "param_hour_attempts",
			    t->hour_attempts.data);
	return 0;
}

static int add_days(struct total_answer *t, const struct call *call,
		    struct error *err)
{
	if (t->valued.count) {
		question_params_add(&t->params, "param_value_days",
				    t->valued_starts.data);
		question_params_add(&t->params, "param_value_attempts",
				    t->valued_attempts.data);
		question_params_rows(&t->params,
				     call->config->aggregator.raw_rows_max);
	}
	if (!t->days.count)
		return 0;
	if (copied_days_put(&t->days, &t->starts, &t->attempts, err) < 0)
		return -1;
	question_params_add(&t->params, "param_days", t->starts.data);
	question_params_add(&t->params, "param_attempts", t->attempts.data);
	return 0;
}

int total_answer_prepare(struct total_answer *t, struct call *call,
			 const struct question *q, int64_t at,
			 struct error *err)
{
	struct published_hours hours;
	struct progress last;
	int status;

	*t = (struct total_answer){0};
	if (published_hours_read(call->ch, q->from, q->to, &last, &hours, err) <
	    0)
		return -1;
	t->complete_until = last.complete_until;
	status = read_days(t, call, q, &last, err);
	if (status < 0)
		goto out;
	(void)copied_days_keep_whole(&t->days, q->from, q->to, at);
	status = keep_valued(t, call, q, at, err);
	if (status < 0)
		goto out;
	question_params_fill(&t->params, q, 0, last.attempt);
	t->params.readings = (int64_t)q->breakdown_count;
	status = add_days(t, call, err);
	if (status == 0)
		status = list_hours(t, &hours, err);
out:
	published_hours_release(&hours);
	return status;
}

struct total_sources total_answer_sources(const struct total_answer *t)
{
	return (struct total_sources){
		.rolled = &t->days,
		.valued = t->valued.count ? &t->valued : NULL,
		.listed = t->listed,
	};
}

int total_answer_rows(const struct total_answer *t, struct call *call,
		      struct buf *sql, const char *columns,
		      clickhouse_row_fn *fn, void *arg, struct error *err)
{
	const struct answer_of what = {buf_cstr(sql), t->params.items, columns,
				       call->deadline};

	if (!what.sql)
		return error_set_nomem(err);
	/* Rows of `clicks` arrive all the time, so the answer is not cached. */
	if (t->valued.count)
		return clickhouse_rows(call->ch, what.sql, what.params, columns,
				       fn, arg, err);
	return answer_cache_rows(call->answers, call->ch, &what, fn, arg, err);
}

void total_answer_release(struct total_answer *t)
{
	copied_days_release(&t->days);
	copied_days_release(&t->valued);
	question_params_release(&t->params);
	buf_free(&t->starts);
	buf_free(&t->attempts);
	buf_free(&t->valued_starts);
	buf_free(&t->valued_attempts);
	buf_free(&t->hours);
	buf_free(&t->hour_attempts);
}
