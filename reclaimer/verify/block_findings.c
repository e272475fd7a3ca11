#include "reclaimer/verify/block_findings.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name, *text;
} troubles[TROUBLE_COUNT_OF] = {
	[TROUBLE_NONE] = {"none", "nothing"},
	[TROUBLE_MISSING] = {"missing", "neither issued nor pooled nor out"},
	[TROUBLE_TWICE] = {"twice", "in two places at once"},
	[TROUBLE_MALFORMED] = {"malformed", "not a range"},
	[TROUBLE_BEYOND] = {"beyond", "above the cursor: never issued"},
	[TROUBLE_POOL_OPEN] = {"pool-open", "pooled, but its marker is open or "
					    "of the generation to come"},
	[TROUBLE_POOL_UNMARKED] = {"pool-unmarked",
				   "pooled, but its marker is gone"},
	[TROUBLE_DAMAGED] = {"damaged", "its marker cannot be read"},
	[TROUBLE_LOST_MARKED] = {"lost-marked",
				 "set aside as lost, but it has a marker"},
	[TROUBLE_STUCK] = {"stuck", "ended, but never to be looked at"},
	[TROUBLE_UNMARKED] = {"unmarked", "opened, but its marker is gone"},
	[TROUBLE_UNOPENED] = {"unopened",
			      "granted for ever, not opened, and never to be "
			      "looked at"},
	[TROUBLE_RETIRED] = {"retired", "the number of retired blocks differs"},
	[TROUBLE_EVICTS] = {"blind", "Redis has dropped keys, or may"},
	[TROUBLE_LOST] = {"lost", "lost its marker"},
	[TROUBLE_LINK] = {"link", "a link that its marker denies"},
};

const char *block_finding_name(enum trouble trouble)
{
	return troubles[trouble].name;
}

const char *block_finding_text(enum trouble trouble)
{
	return troubles[trouble].text;
}

void block_findings_free(struct block_findings *f)
{
	free(f->list);
	*f = (struct block_findings){0};
}

static bool is_known(const struct block_findings *f,
		     const struct block_finding *finding)
{
	for (size_t i = 0; i < f->count; i++) {
		const struct block_finding *known = &f->list[i];

		if (known->trouble == finding->trouble &&
		    known->first == finding->first &&
		    known->last == finding->last &&
		    !strcmp(known->detail, finding->detail))
			return true;
	}
	return false;
}

int block_findings_add(struct block_findings *f,
		       const struct block_finding *finding, struct error *err)
{
	if (is_known(f, finding))
		return 0;
	f->total++;
	if (f->count == FINDINGS_MAX) {
		f->repaired_unkept += finding->repaired;
		return 0;
	}
	if (f->count == f->room) {
		size_t room = f->room ? 2 * f->room : 16;
		struct block_finding *list =
			realloc(f->list, room * sizeof(*list));

		if (!list)
			return error_set_nomem(err);
		f->list = list;
		f->room = room;
	}
	f->list[f->count++] = *finding;
	return 0;
}

uint64_t block_findings_left(const struct block_findings *f)
{
	uint64_t left = f->total - f->repaired_unkept;

	for (size_t i = 0; i < f->count; i++)
		left -= f->list[i].repaired;
	return left;
}
