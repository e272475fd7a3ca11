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

/* Granted less than hold_max ago, as far as the time it is due tells: that is
 * hold_max and a class' TTL after the grant. */
static bool may_be_fresh(const struct classify_terms *terms, int64_t score)
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

static struct classification
classify_unmarked(const struct classify_terms *terms,
		  const struct found_member *claim, bool in_gap)
{
	struct classification c = {STATE_LOST, TROUBLE_NONE};

	if (in_gap)
		c.state = STATE_GAP;
	else if (!claim->score)
		c.state = STATE_LOST;
	else if (claim->score <= terms->now)
		c.state = STATE_DUE;
	else if (may_be_fresh(terms, claim->score))
		c.state = STATE_HELD;
	return c;
}

/* Open for less than hold_max, or granted again and not opened yet. */
static bool is_held(const struct classify_terms *terms,
		    const struct found_member *claim,
		    const struct link_marker *m)
{
	int64_t hold = linkstore_config(terms->space->store)->hold_max;

	if (m->open)
		return terms->now < m->opened + hold;
	return m->generation < claim->range.generation &&
	       may_be_fresh(terms, claim->score);
}

static struct classification classify_issued(const struct classify_terms *terms,
					     const struct found_member *claim,
					     const struct marker_look *look,
					     bool in_gap)
{
	const struct link_marker *m = &look->marker;
	struct classification c = {STATE_LATER, TROUBLE_NONE};

	if (look->state == MARKER_ABSENT ||
	    (in_gap && !m->open && m->generation < claim->range.generation))
		return classify_unmarked(terms, claim, in_gap);
	if (!claim->score) {
		c.state = STATE_LOST;
		c.trouble = TROUBLE_LOST_MARKED;
	} else if (claim->score <= terms->now) {
		c.state = STATE_DUE;
	} else if (is_held(terms, claim, m)) {
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
					   bool in_gap)
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
		return classify_issued(terms, claim, look, in_gap);
	return c;
}

bool block_state_is_retired(const struct marker_look *look)
{
	return look->state == MARKER_SOUND && !look->marker.open &&
	       look->marker.generation >= LINK_GENERATION_MAX - 1;
}
