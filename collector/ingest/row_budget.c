#include "collector/ingest/row_budget.h"

void row_budget_init(struct row_budget *r, size_t bound)
{
	*r = (struct row_budget){.bound_max = bound, .bound = bound};
}

static void update_full_flag(struct row_budget *r)
{
	if (r->held >= r->bound)
		r->full = true;
	else if (r->held <= r->bound / 2)
		r->full = false;
}

void row_budget_set(struct row_budget *r, size_t held, size_t partitions)
{
	r->held = held;
	r->partitions = partitions;
	update_full_flag(r);
}

void row_budget_add(struct row_budget *r, size_t bytes)
{
	r->held += bytes;
	update_full_flag(r);
}

static size_t share_of_partition(const struct row_budget *r)
{
	return r->bound / (r->partitions ? r->partitions : 1);
}

bool row_budget_pauses(const struct row_budget *r, size_t own, bool paused)
{
	if (r->full)
		return true;
	if (paused)
		return own > share_of_partition(r) / 2 &&
		       r->held > r->bound / 4;
	return own >= share_of_partition(r) && r->held > r->bound / 2;
}

bool row_budget_is_urgent(const struct row_budget *r, size_t own)
{
	return own >= share_of_partition(r) / 2;
}

void row_budget_tighten(struct row_budget *r)
{
	if (r->bound / 2 >= r->bound_max / 8)
		r->bound /= 2;
	r->full = true;
}

void row_budget_relax(struct row_budget *r)
{
	r->bound = r->bound < r->bound_max / 2 ? r->bound * 2 : r->bound_max;
}
