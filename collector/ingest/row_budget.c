#include "collector/ingest/row_budget.h"

void valve_init(struct valve *v, size_t bound)
{
	*v = (struct valve){.bound_max = bound, .bound = bound};
}

static void judge(struct valve *v)
{
	if (v->held >= v->bound)
		v->full = true;
	else if (v->held <= v->bound / 2)
		v->full = false;
}

void valve_look(struct valve *v, size_t held, size_t partitions)
{
	v->held = held;
	v->partitions = partitions;
	judge(v);
}

void valve_add(struct valve *v, size_t bytes)
{
	v->held += bytes;
	judge(v);
}

static size_t share(const struct valve *v)
{
	return v->bound / (v->partitions ? v->partitions : 1);
}

bool valve_shuts(const struct valve *v, size_t own, bool is_shut)
{
	if (v->full)
		return true;
	if (is_shut)
		return own > share(v) / 2 && v->held > v->bound / 4;
	return own >= share(v) && v->held > v->bound / 2;
}

bool valve_hurries(const struct valve *v, size_t own)
{
	return own >= share(v) / 2;
}

void valve_press(struct valve *v)
{
	if (v->bound / 2 >= v->bound_max / 8)
		v->bound /= 2;
	v->full = true;
}

void valve_relax(struct valve *v)
{
	v->bound = v->bound < v->bound_max / 2 ? v->bound * 2 : v->bound_max;
}
