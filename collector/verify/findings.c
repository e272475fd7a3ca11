#include "collector/verify/findings.h"

#include <stdlib.h>

static const struct {
	const char *name, *text;
} troubles[TROUBLE_COUNT_OF] = {
	[TROUBLE_MISSING] = {"missing", "Kafka holds them, no row and no dead "
					"letter is there"},
	[TROUBLE_TWICE] = {"twice", "stored more than once"},
	[TROUBLE_UNKNOWN] = {"unknown", "stored, but Kafka has no such offset"},
	[TROUBLE_ROWS_GONE] = {"rows gone", "reported as stored, and not "
					    "there; Kafka dropped them since"},
	[TROUBLE_UNREPORTED] = {"unreported",
				"dropped by Kafka, and no collector reported "
				"them"},
	[TROUBLE_NOT_READ] = {"not read", "dropped by Kafka before a collector "
					  "came to read them, as it reported"},
};

const char *trouble_name(enum trouble trouble)
{
	return troubles[trouble].name;
}

const char *trouble_text(enum trouble trouble)
{
	return troubles[trouble].text;
}

void findings_free(struct findings *f)
{
	free(f->list);
	*f = (struct findings){.max = f->max};
}

bool findings_have_room(const struct findings *f)
{
	return f->count < f->max;
}

uint64_t findings_events(const struct findings *f)
{
	uint64_t sum = 0;

	for (int i = 0; i < TROUBLE_COUNT_OF; i++)
		sum += f->events[i];
	return sum;
}

static bool goes_on(const struct finding *a, const struct finding *b)
{
	return a->trouble == b->trouble && a->partition == b->partition &&
	       a->epoch == b->epoch && a->last + 1 == b->first;
}

static int make_room(struct findings *f, struct error *err)
{
	size_t room = f->room ? f->room * 2 : 64;
	struct finding *list;

	if (f->list && f->count < f->room)
		return 0;
	list = realloc(f->list, room * sizeof(*list));
	if (!list)
		return error_set_nomem(err);
	f->list = list;
	f->room = room;
	return 0;
}

int findings_add(struct findings *f, const struct finding *finding,
		 struct error *err)
{
	struct finding *last = f->count ? &f->list[f->count - 1] : NULL;

	f->events[finding->trouble] += finding->events;
	if (last && !f->untold && goes_on(last, finding)) {
		last->last = finding->last;
		last->events += finding->events;
		return 0;
	}
	if (!findings_have_room(f)) {
		f->untold++;
		return 0;
	}
	if (make_room(f, err) < 0)
		return -1;
	f->list[f->count++] = *finding;
	return 0;
}
