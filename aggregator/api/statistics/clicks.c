#include "aggregator/api/statistics/clicks_answer.h"

#include <stdio.h>
#include <stdlib.h>

#include "aggregator/api/statistics/clicks_fetch.h"
#include "aggregator/api/statistics/first_counts.h"
#include "aggregator/api/statistics/owner_clicks.h"
#include "aggregator/api/statistics/shared_question.h"

/* Finds the link, if the question is about one, and checks whose clicks it is
 * about: a link that changed hands may have two owners of one name. */
static int find_subject(struct call *call, const struct question *q,
			struct archived_link *ret, struct error *err)
{
	struct link_finder finder = call_finder(call);

	if ((*q->code || q->link_id) &&
	    link_find(&finder, q->code, q->link_id, ret, err) < 0)
		return -1;
	return owner_question_check(q, call->access, err);
}

static int fetch_range(struct call *call, const struct question *q,
		       struct clicks_answer *ret, struct error *err)
{
	if (call_check_counts(call, q->from, err) < 0)
		return -1;
	return clicks_fetch(call, q, ret, err);
}

/* Counts the range without groups: a total may be kept for longer than the
 * clicks of which groups are made, or take fewer of them. */
static int fetch_groupless(struct call *call, struct compared *c,
			   struct error *err)
{
	uint64_t link_id = c->a.link.link_id;

	clicks_answer_release(&c->a);
	c->a = (struct clicks_answer){.link = {.link_id = link_id}};
	c->q.group_by_count = c->q.breakdown_count = 0;
	c->without_groups = true;
	return fetch_range(call, &c->q, &c->a, err);
}

/* Counts the range that the question is compared with.  Counts that are not
 * kept any more leave the answer as it is: they are unknown, and it says why.
 */
static int fetch_compared(struct call *call, const struct clicks_answer *a,
			  struct compared *c, struct error *err)
{
	struct error why = {0};

	if (*c->unknown)
		return 0;
	c->a.link.link_id = a->link.link_id;
	if (fetch_range(call, &c->q, &c->a, &why) == 0) {
		clicks_answer_sort_groups(&c->a);
		return 0;
	}
	if (why.code == ERROR_INPUT && question_has_groups(&c->q) &&
	    fetch_groupless(call, c, &why) == 0)
		return 0;
	if (why.code != ERROR_INPUT) {
		*err = why;
		return -1;
	}
	snprintf(c->unknown, sizeof(c->unknown), "%s", why.text);
	return 0;
}

/* Makes the question about the compared range. */
static struct compared *compared_of(const struct call *call,
				    const struct question *q, struct error *err)
{
	struct compared *c = calloc(1, sizeof(*c));
	int64_t from, to;

	if (!c) {
		error_set_nomem(err);
		return NULL;
	}
	c->q = *q;
	if (!q->compare_groups)
		c->q.group_by_count = c->q.breakdown_count = 0;
	c->q.limit = (size_t)call->config->aggregator.groups_max;
	c->q.period = PERIOD_NONE;
	if (comparison_range(q->zone, q->compare, q->from, q->to, &from, &to)) {
		c->q.to = to;
		question_begin(&c->q, &call->config->aggregator, from);
	} else {
		snprintf(c->unknown, sizeof(c->unknown),
			 "there is no such range");
	}
	return c;
}

static int check_compared(struct call *call, const struct compared *c,
			  struct error *err)
{
	return *c->unknown ? 0
			   : shared_question_check_range(call, c->q.from,
							 c->q.to, err);
}

static int fetch_answer(struct call *call, struct question *q,
			struct clicks_answer *ret, struct error *err)
{
	if (find_subject(call, q, &ret->link, err) < 0 ||
	    (q->period == PERIOD_ALL &&
	     first_counts_begin(call, &ret->link, q, err) < 0))
		return -1;
	ret->from = q->from;
	if (q->compare) {
		ret->compared = compared_of(call, q, err);
		if (!ret->compared ||
		    check_compared(call, ret->compared, err) < 0)
			return -1;
		ret->from = ret->compared->q.from;
	}
	if (freshness_waits(call->freshness, call->ch, ret->from, q->to,
			    &ret->waits, err) < 0 ||
	    fetch_range(call, q, ret, err) < 0)
		return -1;
	return q->compare ? fetch_compared(call, ret, ret->compared, err) : 0;
}

int route_clicks(struct call *call, struct error *err)
{
	struct question q = {.from = 0};
	struct clicks_answer a = {.link = {.link_id = 0}};
	int status = shared_question_parse(
		&q, call,
		ASK_LINK | ASK_RANGE | ASK_INTERVAL | ASK_GROUP | ASK_BOTS |
			ASK_FORMAT | ASK_FILTER | ASK_PAGE | ASK_PERIOD,
		err);

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
		call->polled = (struct polled){.may_be = true,
					       .of_rows = a.of_rows,
					       .from = a.from,
					       .to = q.to,
					       .until = q.to};
	clicks_answer_release(&a);
	question_release(&q);
	return status;
}
