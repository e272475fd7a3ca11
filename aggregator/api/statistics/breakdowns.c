#include "aggregator/api/statistics/breakdowns.h"

/* Keeps the breakdowns of one kind, and returns how many. */
static size_t keep_kind(struct question *part, bool daily)
{
	size_t kept = 0;

	for (size_t i = 0; i < part->breakdown_count; i++) {
		if ((part->breakdowns[i]->kind == DIMENSION_DAILY) == daily)
			kept++;
		else
			part->breakdowns[i] = NULL;
	}
	return kept;
}

bool breakdowns_split(const struct question *q, struct question parts[2])
{
	if (!question_groups_daily(q) || !q->breakdown_count)
		return false;
	parts[0] = parts[1] = *q;
	parts[1].whole = parts[1].apart = true;
	return keep_kind(&parts[1], true) && keep_kind(&parts[0], false);
}

static bool are_biased(const struct grouping *g)
{
	for (size_t i = 0; i < g->count; i++) {
		if (counts_are_biased(&g->groups[i].counts))
			return true;
	}
	return false;
}

/* One error stands for the whole answer but its breakdowns, each of which has
 * one for its groups and the intervals. */
void breakdowns_raise_error(struct clicks_answer *a, const struct question *q)
{
	bool biased = counts_are_biased(&a->total);

	for (size_t i = 0; i < a->buckets.count; i++)
		biased |= counts_are_biased(&a->data[i]);
	if (!q->breakdown_count)
		biased |= are_biased(&a->groupings[0]);
	for (size_t i = 0; i < q->breakdown_count; i++) {
		struct grouping *g = &a->groupings[i];

		g->unique_error = biased || are_biased(g) ? UNIQUE_ERROR_BIASED
							  : a->unique_error;
	}
	if (biased)
		a->unique_error = UNIQUE_ERROR_BIASED;
}

void breakdowns_finish(const struct question *q, struct clicks_answer *a)
{
	for (size_t i = 0; i < q->breakdown_count; i++) {
		struct grouping *g = &a->groupings[i];

		if (!q->breakdowns[i] || g->finished)
			continue;
		g->finished = true;
		g->total = a->total;
		if (g->unique_error <= 0)
			g->unique_error = a->unique_error;
	}
}

void breakdowns_join(const struct question *part, struct clicks_answer *whole,
		     struct clicks_answer *from)
{
	for (size_t i = 0; i < part->breakdown_count; i++) {
		if (!part->breakdowns[i])
			continue;
		whole->groupings[i] = from->groupings[i];
		from->groupings[i] = (struct grouping){0};
	}
	if (from->complete_until < whole->complete_until)
		whole->complete_until = from->complete_until;
}
