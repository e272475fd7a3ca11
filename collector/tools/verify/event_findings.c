#include "collector/tools/verify/event_findings.h"

#include <stdlib.h>

static const struct {
	const char *name, *text;
} kinds[FINDING_KINDS] = {
	[FINDING_MISSING] = {"missing", "Kafka holds them, no row and no dead "
					"letter is there"},
	[FINDING_TWICE] = {"twice", "stored more than once"},
	[FINDING_UNKNOWN] = {"unknown", "stored, but Kafka has no such offset"},
	[FINDING_ROWS_GONE] = {"rows gone", "reported as stored, and not "
					    "there; Kafka dropped them since"},
	[FINDING_UNREPORTED] = {"unreported",
				"dropped by Kafka, and no collector reported "
				"them"},
	[FINDING_NOT_READ] = {"not read",
			      "no collector read them, as it reported: Kafka "
			      "had dropped them, or they were passed over"},
	[FINDING_UNREADABLE] = {"unreadable",
				"Kafka holds them, but they cannot be unpacked "
				"or have a wrong checksum"},
	[FINDING_OTHER] = {"other", "the rows are of other events than Kafka "
				    "holds: its log was cut and written again"},
	[FINDING_REREAD] = {"read again", "stored in an earlier epoch, too"},
};

const char *event_finding_name(enum event_finding_kind kind)
{
	return kinds[kind].name;
}

const char *event_finding_text(enum event_finding_kind kind)
{
	return kinds[kind].text;
}

void event_findings_release(struct event_findings *f)
{
	free(f->list);
	*f = (struct event_findings){.max = f->max};
}

bool event_findings_have_room(const struct event_findings *f)
{
	return f->count < f->max;
}

uint64_t event_findings_events(const struct event_findings *f)
{
	uint64_t sum = 0;

	for (int i = 0; i < FINDING_KINDS; i++)
		sum += f->events[i];
	return sum;
}

static bool goes_on(const struct event_finding *a,
		    const struct event_finding *b)
{
	return a->kind == b->kind && a->partition == b->partition &&
	       a->epoch == b->epoch && a->last + 1 == b->first;
}

static int make_room(struct event_findings *f, struct error *err)
{
	size_t room = f->room ? f->room * 2 : 64;
	struct event_finding *list;

	if (f->list && f->count < f->room)
		return 0;
	list = realloc(f->list, room * sizeof(*list));
	if (!list)
		return error_set_nomem(err);
	f->list = list;
	f->room = room;
	return 0;
}

int event_findings_note(struct event_findings *f,
			const struct event_finding *finding, struct error *err)
{
	struct event_finding *last = f->count ? &f->list[f->count - 1] : NULL;

	f->events[finding->kind] += finding->events;
	if (last && !f->unnamed && goes_on(last, finding)) {
		last->last = finding->last;
		last->events += finding->events;
		return 0;
	}
	if (!event_findings_have_room(f)) {
		f->unnamed++;
		return 0;
	}
	if (make_room(f, err) < 0)
		return -1;
	f->list[f->count++] = *finding;
	return 0;
}
