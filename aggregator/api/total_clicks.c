#include "aggregator/api/total_clicks.h"

#include "aggregator/api/freshness.h"
#include "aggregator/api/whole_days.h"
#include "aggregator/settle/progress.h"

/* The lists that are kept may be some seconds old: only while nothing was
 * published since are they used, as hours are read as they are now. */
static int read_days(struct total_answer *t, struct call *call,
		     const struct question *q, const struct progress *last,
		     struct error *err)
{
	bool daily = question_groups_daily(q);
	struct copied_days all[COPIED_KINDS];
	struct fresh fresh;

	if (!freshness_get(call->freshness, &fresh) ||
	    fresh.published.attempt != last->attempt) {
		if (copied_days_read_all(call->ch, all, err) < 0)
			return -1;
		t->days = all[COPIED_TOTALS];
		if (daily)
			t->valued = all[COPIED_VALUES];
		else
			copied_days_release(&all[COPIED_VALUES]);
		copied_days_release(&all[COPIED_LINKS]);
		copied_days_release(&all[COPIED_OWNERS]);
		return 0;
	}
	if (freshness_days(call->freshness, COPIED_TOTALS, call->ch, q->from,
			   q->to, &t->days, err) < 0)
		return -1;
	return daily ? freshness_days(call->freshness, COPIED_VALUES, call->ch,
				      q->from, q->to, &t->valued, err)
		     : 0;
}

/* Of groups by a dimension that only days have. */
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
	/* Of days that both have the total is read from the rollup. */
	copied_days_keep_common(&t->days, &t->valued);
	return copied_days_put(&t->valued, &t->valued_starts,
			       &t->valued_attempts, err);
}

int total_answer_prepare(struct total_answer *t, struct call *call,
			 const struct question *q, int64_t at,
			 struct error *err)
{
	struct progress last;

	*t = (struct total_answer){0};
	if (progress_read_last(call->ch, &last, err) < 0 ||
	    read_days(t, call, q, &last, err) < 0)
		return -1;
	(void)copied_days_keep_whole(&t->days, q->from, q->to, at);
	t->complete_until = last.complete_until;
	if (keep_valued(t, call, q, at, err) < 0)
		return -1;
	question_params_fill(&t->params, q, 0, last.attempt);
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

void total_answer_release(struct total_answer *t)
{
	copied_days_release(&t->days);
	copied_days_release(&t->valued);
	question_params_release(&t->params);
	buf_free(&t->starts);
	buf_free(&t->attempts);
	buf_free(&t->valued_starts);
	buf_free(&t->valued_attempts);
}
