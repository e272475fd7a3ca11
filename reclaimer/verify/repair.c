#include "reclaimer/verify/repair.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/clock.h"
#include "reclaimer/verify/recheck.h"
#include "reclaimer/verify/repair_lost.h"

/* Members that are untangled in one script. */
#define TANGLE_MAX 1000
#define TRIES	   5

static void say(struct finding *f, bool repaired, const char *outcome)
{
	f->repaired = repaired;
	snprintf(f->outcome, sizeof(f->outcome), "%s", outcome);
}

static int claims_of(struct repair *r, uint64_t first, uint64_t last,
		     struct member_list *claims, struct error *err)
{
	struct stretch stretch = {first, last, 0};
	struct stretches one = {&stretch, 1, 1, 0};

	return recheck_claims(r->survey, &one, claims, err);
}

static int mend(struct repair *r, const struct member_list *claims,
		const struct found_member *parts, size_t count,
		struct error *err)
{
	return space_mend(r->survey->redis, r->lock, &r->note, claims->members,
			  claims->count, parts, count, err);
}

/* A member has moved meanwhile: look again. */
static bool has_moved(const struct error *why)
{
	return why->code == ERROR_NOTFOUND;
}

/* --- twice ---------------------------------------------------------------- */

/* The claims on a stretch, and on all that these overlap with. */
static int whole_tangle(struct repair *r, uint64_t first, uint64_t last,
			struct member_list *claims, struct error *err)
{
	size_t count;

	claims->count = 0;
	do {
		count = claims->count;
		if (claims_of(r, first, last, claims, err) < 0)
			return -1;
		for (size_t i = 0; i < claims->count; i++) {
			const struct block_range *m = &claims->members[i].range;

			first = m->first < first ? m->first : first;
			last = m->last > last ? m->last : last;
		}
	} while (claims->count != count && claims->count <= TANGLE_MAX);
	return 0;
}

static int untangle(struct repair *r, struct finding *f,
		    struct member_list *claims, struct error *err)
{
	struct found_member *parts;
	size_t count;
	int status;

	if (whole_tangle(r, f->first, f->last, claims, err) < 0)
		return -1;
	if (claims->count > TANGLE_MAX) {
		say(f, false, "too many ranges overlap there: by hand");
		return 0;
	}
	if (!claims->count)
		return 0;
	parts = calloc(2 * claims->count, sizeof(*parts));
	if (!parts)
		return error_set_nomem(err);
	count = mend_plan(claims->members, claims->count, parts);
	status = mend(r, claims, parts, count, err);
	free(parts);
	if (status == 0)
		say(f, true, "kept once, in the stricter of its states");
	return status;
}

/* --- missing -------------------------------------------------------------- */

/* The highest generation that markers of these blocks name, at least 1. */
static int generation_of(struct repair *r, uint64_t first, uint64_t last,
			 uint32_t *ret, struct error *err)
{
	struct survey *s = r->survey;
	size_t n;

	*ret = 1;
	for (uint64_t at = first; at <= last; at += n) {
		if (survey_look_from(s, at, last, &n, err) < 0)
			return -1;
		for (size_t i = 0; i < n; i++)
			if (s->looks[i].state == MARKER_SOUND &&
			    s->looks[i].marker.generation > *ret)
				*ret = s->looks[i].marker.generation;
	}
	return 0;
}

static int adopt(struct repair *r, struct finding *f, struct error *err)
{
	struct survey *s = r->survey;
	const struct linkstore *store = s->space->store;
	struct found_member part = {SET_ISSUED, {f->first, f->last, 1}, 0};
	struct space_movement now;

	if (!f->has_blocks || !s->proven) {
		say(f, false,
		    "the space never rested long enough to be sure: "
		    "run it again");
		return 0;
	}
	if (space_read_movement(s->redis, s->space, &now, err) < 0 ||
	    generation_of(r, f->first, f->last, &part.range.generation, err) <
		    0)
		return -1;
	part.score = now.now + linkstore_config(store)->hold_max +
		     linkstore_longest_ttl(store);
	if (space_mend(s->redis, r->lock, &r->note, NULL, 0, &part, 1, err) < 0)
		return -1;
	say(f, true, "issued, to be looked at after the longest TTL");
	return 0;
}

/* --- to be judged by the next run ----------------------------------------- */

static void put(struct found_member *parts, size_t *count,
		const struct found_member *claim, uint64_t first, uint64_t last)
{
	parts[*count] = *claim;
	parts[*count].range.first = first;
	parts[(*count)++].range.last = last;
}

/* The stretch within its member becomes issued and due; the rest stays. */
static int make_due(struct repair *r, struct finding *f,
		    struct member_list *claims, struct error *err)
{
	struct found_member parts[3], due;
	size_t count = 0;
	const struct block_range *m;
	struct space_movement now;

	if (claims_of(r, f->first, f->last, claims, err) < 0 ||
	    space_read_movement(r->survey->redis, r->survey->space, &now, err) <
		    0)
		return -1;
	if (claims->count != 1 || claims->members[0].range.first > f->first ||
	    claims->members[0].range.last < f->last)
		return error_set(err, ERROR_NOTFOUND, "it has moved");
	m = &claims->members[0].range;
	due = claims->members[0];
	due.set = SET_ISSUED;
	due.score = now.now;
	if (m->first < f->first)
		put(parts, &count, &claims->members[0], m->first, f->first - 1);
	put(parts, &count, &due, f->first, f->last);
	if (m->last > f->last)
		put(parts, &count, &claims->members[0], f->last + 1, m->last);
	if (mend(r, claims, parts, count, err) < 0)
		return -1;
	say(f, true, "issued and due: the next run judges it");
	return 0;
}

/* --- all ------------------------------------------------------------------ */

static int repair_one(struct repair *r, struct finding *f,
		      struct member_list *claims, struct error *err)
{
	switch (f->trouble) {
	case TROUBLE_TWICE:
		return untangle(r, f, claims, err);
	case TROUBLE_MISSING:
		return adopt(r, f, err);
	case TROUBLE_POOL_OPEN:
	case TROUBLE_POOL_UNMARKED:
	case TROUBLE_LOST_MARKED:
	case TROUBLE_STUCK:
		return make_due(r, f, claims, err);
	default:
		say(f, false, "left to you");
		return 0;
	}
}

static int repair_finding(struct repair *r, struct finding *f,
			  struct error *err)
{
	struct member_list claims = {0};
	struct error why = {0};
	int status = -1;

	for (int i = 0; i < TRIES; i++) {
		status = repair_one(r, f, &claims, &why);
		if (status == 0 || !has_moved(&why))
			break;
	}
	member_list_free(&claims);
	if (status == 0)
		return 0;
	if (has_moved(&why)) {
		say(f, false, "it keeps moving: run it again");
		return 0;
	}
	*err = why;
	return -1;
}

int repair_run(struct repair *r, struct error *err)
{
	struct findings *findings = &r->survey->findings;
	size_t count = findings->count;

	for (size_t i = 0; i < count; i++)
		if (repair_finding(r, &findings->list[i], err) < 0)
			return -1;
	return repair_lost(r, err);
}
