#include "aggregator/api/total_clicks.h"

#include "aggregator/api/freshness.h"
#include "aggregator/api/whole_days.h"
#include "aggregator/settle/progress.h"

/* The list that is kept may be some seconds old: only while nothing was
 * published since is it used, as hours are read as they are now. */
static int read_days(struct call *call, enum copied which,
		     const struct question *q, const struct progress *last,
		     struct copied_days *ret, struct error *err)
{
	struct fresh fresh;

	if (freshness_get(call->freshness, &fresh) &&
	    fresh.published.attempt == last->attempt)
		return freshness_days(call->freshness, which, call->ch, q->from,
				      q->to, ret, err);
	return copied_days_read(call->ch, which, ret, err);
}

/* Of groups by a dimension that only days have. */
static int read_valued(struct total_answer *t, struct call *call,
		       const struct question *q, const struct progress *last,
		       int64_t at, struct error *err)
{
	if (!question_groups_daily(q))
		return 0;
	if (read_days(call, COPIED_VALUES, q, last, &t->valued, err) < 0 ||
	    whole_days_keep(&t->valued, q, at, "counts", err) < 0)
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
	    read_days(call, COPIED_TOTALS, q, &last, &t->days, err) < 0)
		return -1;
	(void)copied_days_keep_whole(&t->days, q->from, q->to, at);
	t->complete_until = last.complete_until;
	if (read_valued(t, call, q, &last, at, err) < 0)
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
