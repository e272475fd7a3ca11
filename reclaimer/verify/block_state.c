#include "reclaimer/verify/block_state.h"

#include "codespace/link_id.h"
#include "common/clock.h"

const char *block_state_name(enum accounted_state state)
{
	static const char *const names[STATE_COUNT_OF] = {
		[STATE_HELD] = "held",
		[STATE_LIVE] = "live",
		[STATE_LATER] = "due later",
		[STATE_DUE] = "due",
		[STATE_QUARANTINED] = "quarantined",
		[STATE_POOLED] = "pooled",
		[STATE_OUT] = "out",
		[STATE_RETIRED] = "retired",
		[STATE_LOST] = "lost",
		[STATE_GAP] = "gap",
	};

	return names[state];
}

/*
 * Whether the block may have been granted less than hold_max ago.  Its due time
 * is hold_max plus a class' TTL after the grant, or only hold_max if it was
 * granted for ever.
 */
static bool may_be_fresh(const struct classify_terms *terms, int64_t score,
			 bool or_for_ever)
{
	const struct linkstore *store = terms->space->store;
	int64_t hold = linkstore_config(store)->hold_max;

	if (score == DURATION_NEVER)
		return false;
	for (size_t i = 0; i < linkstore_class_count(store); i++) {
		int64_t ttl = linkstore_class(store, i)->ttl, granted;

		if (ttl == DURATION_NEVER && !or_for_ever)
			continue;
		granted = score - hold - (ttl == DURATION_NEVER ? 0 : ttl);
		if (granted <= terms->now && terms->now < granted + hold)
			return true;
	}
	return false;
}

/* Whether the marker is as before the holder opens the block: absent, or closed
 * under an earlier generation. */
static bool is_former(const struct found_member *claim,
		      const struct marker_look *look)
{
	return look->state == MARKER_ABSENT ||
	       (!look->marker.open &&
		look->marker.generation < claim->range.generation);
}

static struct classification classify_pooled(const struct classify_terms *terms,
					     const struct found_member *claim,
					     const struct marker_look *look)
{
	struct classification c = {
		claim->score <= terms->now ? STATE_POOLED : STATE_QUARANTINED,
		TROUBLE_NONE};

	if (look->state == MARKER_ABSENT)
		c.trouble = TROUBLE_POOL_UNMARKED;
	else if (look->marker.open ||
		 look->marker.generation >= claim->range.generation)
		c.trouble = TROUBLE_POOL_OPEN;
	return c;
}

/*
 * Classifies a block without a marker, or with one of an earlier generation.
 * If its due time is in the future, the mark of the grant decides: without the
 * mark, the block was opened and its marker is lost.  A block that may have
 * been granted just now can be opened during the check, so it counts as held.
 */
static struct classification classify_former(const struct classify_terms *terms,
					     const struct found_member *claim,
					     const struct marker_look *look,
					     bool unopened)
{
	struct classification c = {STATE_LATER, TROUBLE_NONE};

	if (claim->score <= terms->now) {
		c.state = claim->score ? STATE_DUE : STATE_LOST;
	} else if (may_be_fresh(terms, claim->score, unopened)) {
		c.state = STATE_HELD;
	} else if (look->state == MARKER_ABSENT && !unopened) {
		c.state = STATE_LOST;
		c.trouble = TROUBLE_UNMARKED;
	} else if (claim->score == DURATION_NEVER) {
		c.trouble = TROUBLE_UNOPENED;
	}
	return c;
}

static bool is_held(const struct classify_terms *terms,
		    const struct link_marker *m)
{
	int64_t hold = linkstore_config(terms->space->store)->hold_max;

	return m->open && terms->now < m->opened + hold;
}

static struct classification classify_issued(const struct classify_terms *terms,
					     const struct found_member *claim,
					     const struct marker_look *look,
					     struct block_notes notes)
{
	const struct link_marker *m = &look->marker;
	struct classification c = {STATE_LATER, TROUBLE_NONE};

	if (is_former(claim, look) && notes.in_gap) {
		c.state = STATE_GAP;
	} else if (is_former(claim, look)) {
		c = classify_former(terms, claim, look, notes.unopened);
	} else if (!claim->score) {
		c.state = STATE_LOST;
		c.trouble = TROUBLE_LOST_MARKED;
	} else if (claim->score <= terms->now) {
		c.state = STATE_DUE;
	} else if (is_held(terms, m)) {
		c.state = STATE_HELD;
	} else if (!marker_ended(m, terms->now)) {
		c.state = STATE_LIVE;
	} else if (claim->score == DURATION_NEVER) {
		c.trouble = TROUBLE_STUCK;
	}
	return c;
}

struct classification block_state_classify(const struct classify_terms *terms,
					   const struct found_member *claim,
					   const struct marker_look *look,
					   struct block_notes notes)
{
	struct classification c = {STATE_OUT, TROUBLE_NONE};

	if (look->state == MARKER_DAMAGED) {
		c.trouble = TROUBLE_DAMAGED;
		if (claim->set == SET_POOL)
			c.state = STATE_POOLED;
		else if (claim->set == SET_ISSUED)
			c.state = STATE_LOST;
		return c;
	}
	if (claim->set == SET_POOL)
		return classify_pooled(terms, claim, look);
	if (claim->set == SET_ISSUED)
		return classify_issued(terms, claim, look, notes);
	return c;
}

bool block_state_needs_mark(const struct classify_terms *terms,
			    const struct found_member *claim,
			    const struct marker_look *look)
{
	return claim->set == SET_ISSUED && claim->score > terms->now &&
	       look->state != MARKER_DAMAGED && is_former(claim, look);
}

bool block_state_is_retired(const struct marker_look *look)
{
	return look->state == MARKER_SOUND && !look->marker.open &&
	       look->marker.generation >= LINK_GENERATION_MAX - 1;
}
