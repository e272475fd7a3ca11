#include "reclaimer/verify/findings.h"

#include <stdlib.h>
#include <string.h>

void findings_free(struct findings *f)
{
	free(f->list);
	*f = (struct findings){0};
}

static bool is_known(const struct findings *f, const struct finding *finding)
{
	for (size_t i = 0; i < f->count; i++) {
		const struct finding *known = &f->list[i];

		if (known->trouble == finding->trouble &&
		    known->first == finding->first &&
		    known->last == finding->last &&
		    !strcmp(known->detail, finding->detail))
			return true;
	}
	return false;
}

int findings_add(struct findings *f, const struct finding *finding,
		 struct error *err)
{
	if (is_known(f, finding))
		return 0;
	f->total++;
	if (f->count == FINDINGS_MAX)
		return 0;
	if (f->count == f->room) {
		size_t room = f->room ? 2 * f->room : 16;
		struct finding *list = realloc(f->list, room * sizeof(*list));

		if (!list)
			return error_set_nomem(err);
		f->list = list;
		f->room = room;
	}
	f->list[f->count++] = *finding;
	return 0;
}

uint64_t findings_left(const struct findings *f)
{
	uint64_t left = f->total;

	for (size_t i = 0; i < f->count; i++)
		left -= f->list[i].repaired;
	return left;
}
