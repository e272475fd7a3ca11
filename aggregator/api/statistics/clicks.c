#include "aggregator/api/statistics/clicks_answer.h"

#include "aggregator/api/statistics/clicks_fetch.h"
#include "aggregator/api/statistics/owner_clicks.h"

/* Finds the link, if the question is about one; otherwise checks whose clicks
 * it is about. */
static int find_subject(struct call *call, const struct question *q,
			struct archived_link *ret, struct error *err)
{
	struct link_finder finder = call_finder(call);

	if (*q->code || q->link_id)
		return link_find(&finder, q->code, q->link_id, ret, err);
	return owner_question_check(q, call->access, err);
}

static int fetch_answer(struct call *call, const struct question *q,
			struct clicks_answer *ret, struct error *err)
{
	if (find_subject(call, q, &ret->link, err) < 0 ||
	    call_check_counts(call, q->from, err) < 0 ||
	    freshness_waits(call->freshness, call->ch, q->from, q->to,
			    &ret->waits, err) < 0)
		return -1;
	return clicks_fetch(call, q, ret, err);
}

int route_clicks(struct call *call, struct error *err)
{
	struct question q;
	struct clicks_answer a = {.link = {.link_id = 0}};
	int status = question_parse(
		&q, call->query,
		ASK_LINK | ASK_RANGE | ASK_INTERVAL | ASK_GROUP | ASK_BOTS |
			ASK_FORMAT | ASK_FILTER | ASK_PAGE,
		&call->config->aggregator, call_now, call, err);

	q.marked = call->marked;
	if (status == 0)
		status = fetch_answer(call, &q, &a, err);
	if (status == 0 && q.csv) {
		clicks_to_csv(&q, &a, &call->body);
		call_set_quality(call, a.unique_error,
				 a.groupings[0].lower_bound);
		call_set_completeness(call, a.complete_until, q.to,
				      clicks_answer_is_complete(&a, &q),
				      a.waits);
		status = call_finish_csv(call, err);
	} else if (status == 0) {
		status = call_finish_json(call, clicks_to_json(&q, &a), err);
	}
	if (status == 0)
		call->polled =
			(struct polled){true, a.of_rows, q.from, q.to, q.to};
	clicks_answer_release(&a);
	question_release(&q);
	return status;
}
