#include "reclaimer/verify/standing.h"

#include "codespace/link_id.h"
#include "common/clock.h"

const char *standing_name(enum standing standing)
{
	static const char *const names[STANDING_COUNT_OF] = {
		[STANDING_HELD] = "held",
		[STANDING_LIVE] = "live",
		[STANDING_LATER] = "due later",
		[STANDING_DUE] = "due",
		[STANDING_QUARANTINED] = "quarantined",
		[STANDING_POOLED] = "pooled",
		[STANDING_OUT] = "out",
		[STANDING_RETIRED] = "retired",
		[STANDING_LOST] = "lost",
		[STANDING_GAP] = "gap",
	};

	return names[standing];
}

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
	[TROUBLE_RETIRED] = {"retired", "the number of retired blocks differs"},
	[TROUBLE_EVICTS] = {"blind", "Redis has dropped keys, or may"},
	[TROUBLE_LOST] = {"lost", "lost its marker"},
	[TROUBLE_LINK] = {"link", "a link that its marker denies"},
};

const char *trouble_name(enum trouble trouble)
{
	return troubles[trouble].name;
}

const char *trouble_text(enum trouble trouble)
{
	return troubles[trouble].text;
}

/* Granted less than hold_max ago, as far as the time it is due tells: that is
 * hold_max and a class' TTL after the grant. */
static bool may_be_fresh(const struct judge_terms *terms, int64_t score)
{
	const struct linkstore *store = terms->space->store;
	int64_t hold = linkstore_config(store)->hold_max;

	if (score == DURATION_NEVER)
		return true;
	for (size_t i = 0; i < linkstore_class_count(store); i++) {
		int64_t ttl = linkstore_class(store, i)->ttl, granted;

		if (ttl == DURATION_NEVER)
			continue;
		granted = score - ttl - hold;
		if (granted <= terms->now && terms->now < granted + hold)
			return true;
	}
	return false;
}

static struct judgement of_pool(const struct judge_terms *terms,
				const struct found_member *claim,
				const struct marker_look *look)
{
	struct judgement j = {claim->score <= terms->now ? STANDING_POOLED
							 : STANDING_QUARANTINED,
			      TROUBLE_NONE};

	if (look->state == MARKER_ABSENT)
		j.trouble = TROUBLE_POOL_UNMARKED;
	else if (look->marker.open ||
		 look->marker.generation >= claim->range.generation)
		j.trouble = TROUBLE_POOL_OPEN;
	return j;
}

static struct judgement of_unmarked(const struct judge_terms *terms,
				    const struct found_member *claim,
				    bool in_gap)
{
	struct judgement j = {STANDING_LOST, TROUBLE_NONE};

	if (in_gap)
		j.standing = STANDING_GAP;
	else if (!claim->score)
		j.standing = STANDING_LOST;
	else if (claim->score <= terms->now)
		j.standing = STANDING_DUE;
	else if (may_be_fresh(terms, claim->score))
		j.standing = STANDING_HELD;
	return j;
}

/* Open for less than hold_max, or granted again and not opened yet. */
static bool is_held(const struct judge_terms *terms,
		    const struct found_member *claim,
		    const struct link_marker *m)
{
	int64_t hold = linkstore_config(terms->space->store)->hold_max;

	if (m->open)
		return terms->now < m->opened + hold;
	return m->generation < claim->range.generation &&
	       may_be_fresh(terms, claim->score);
}

static struct judgement of_issued(const struct judge_terms *terms,
				  const struct found_member *claim,
				  const struct marker_look *look, bool in_gap)
{
	const struct link_marker *m = &look->marker;
	struct judgement j = {STANDING_LATER, TROUBLE_NONE};

	if (look->state == MARKER_ABSENT)
		return of_unmarked(terms, claim, in_gap);
	if (!claim->score) {
		j.standing = STANDING_LOST;
		j.trouble = TROUBLE_LOST_MARKED;
	} else if (claim->score <= terms->now) {
		j.standing = STANDING_DUE;
	} else if (is_held(terms, claim, m)) {
		j.standing = STANDING_HELD;
	} else if (!marker_ended(m, terms->now)) {
		j.standing = STANDING_LIVE;
	} else if (claim->score == DURATION_NEVER) {
		j.trouble = TROUBLE_STUCK;
	}
	return j;
}

struct judgement judge_block(const struct judge_terms *terms,
			     const struct found_member *claim,
			     const struct marker_look *look, bool in_gap)
{
	struct judgement j = {STANDING_OUT, TROUBLE_NONE};

	if (look->state == MARKER_DAMAGED) {
		j.trouble = TROUBLE_DAMAGED;
		if (claim->set == SET_POOL)
			j.standing = STANDING_POOLED;
		else if (claim->set == SET_ISSUED)
			j.standing = STANDING_LOST;
		return j;
	}
	if (claim->set == SET_POOL)
		return of_pool(terms, claim, look);
	if (claim->set == SET_ISSUED)
		return of_issued(terms, claim, look, in_gap);
	return j;
}

bool looks_retired(const struct marker_look *look)
{
	return look->state == MARKER_SOUND && !look->marker.open &&
	       look->marker.generation >= LINK_GENERATION_MAX - 1;
}
