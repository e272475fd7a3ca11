#include "aggregator/api/total_clicks.h"

#include "aggregator/api/freshness.h"
#include "aggregator/settle/progress.h"

/* The list that is kept may be some seconds old: only while nothing was
 * published since is it used, as hours are read as they are now. */
static int read_days(struct call *call, const struct question *q,
		     const struct progress *last, struct copied_days *ret,
		     struct error *err)
{
	struct fresh fresh;

	if (freshness_get(call->freshness, &fresh) &&
	    fresh.published.attempt == last->attempt)
		return freshness_days(call->freshness, COPIED_TOTALS, call->ch,
				      q->from, q->to, ret, err);
	return copied_days_read(call->ch, COPIED_TOTALS, ret, err);
}

int total_answer_prepare(struct total_answer *t, struct call *call,
			 const struct question *q, int64_t at,
			 struct error *err)
{
	struct progress last;

	*t = (struct total_answer){0};
	if (progress_read_last(call->ch, &last, err) < 0 ||
	    read_days(call, q, &last, &t->days, err) < 0)
		return -1;
	(void)copied_days_keep_whole(&t->days, q->from, q->to, at);
	t->complete_until = last.complete_until;
	question_params_fill(&t->params, q, 0, last.attempt);
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
	question_params_release(&t->params);
	buf_free(&t->starts);
	buf_free(&t->attempts);
}
