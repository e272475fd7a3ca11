/*
 * standing.h - which state a block is in, and what may be wrong with it: by the
 * one member that claims it and by its marker.  Pure.
 */
#ifndef RECLAIMER_VERIFY_STANDING_H
#define RECLAIMER_VERIFY_STANDING_H

#include <stdbool.h>
#include <stdint.h>

#include "linkstore/block/markers.h"
#include "linkstore/linkstore.h"
#include "linkstore/space/member_list.h"

/* Each block ever issued is in exactly one of these. */
enum standing {
	STANDING_HELD,	/* issued, and in its holder's hands */
	STANDING_LIVE,	/* issued, links of it may be alive */
	STANDING_LATER, /* issued and ended, to be looked at later */
	STANDING_DUE,	/* issued, to be looked at by the next run */
	STANDING_QUARANTINED,
	STANDING_POOLED,
	STANDING_OUT, /* taken out by hand */
	STANDING_RETIRED,
	STANDING_LOST, /* issued, without a marker */
	STANDING_GAP,  /* the same, but skipped when Redis forgot */
	STANDING_COUNT_OF,
};

enum trouble {
	TROUBLE_NONE,
	TROUBLE_MISSING,       /* in no set */
	TROUBLE_TWICE,	       /* in several members */
	TROUBLE_MALFORMED,     /* a member that is none */
	TROUBLE_BEYOND,	       /* above the cursor */
	TROUBLE_POOL_OPEN,     /* pooled, but not closed below that generation*/
	TROUBLE_POOL_UNMARKED, /* pooled, but without marker */
	TROUBLE_DAMAGED,       /* the marker is none */
	TROUBLE_LOST_MARKED,   /* set aside as lost, but it has a marker */
	TROUBLE_STUCK,	       /* ended, but never to be looked at */
	TROUBLE_RETIRED,       /* not as many are retired as is written down */
	TROUBLE_EVICTS,	       /* Redis has dropped keys, or may */
	TROUBLE_LOST,	       /* lost, told only when it is repaired */
	TROUBLE_LINK,	       /* a link against its marker */
	TROUBLE_COUNT_OF,
};

/* "held", "missing": short, for tables and JSON. */
const char *standing_name(enum standing standing);
const char *trouble_name(enum trouble trouble);
/* A line for people. */
const char *trouble_text(enum trouble trouble);

struct judge_terms {
	const struct link_space *space;
	int64_t now; /* ms, Redis' clock */
};

struct judgement {
	enum standing standing;
	enum trouble trouble;
};

/* `in_gap`: one of those skipped when Redis forgot. */
struct judgement judge_block(const struct judge_terms *terms,
			     const struct found_member *claim,
			     const struct marker_look *look, bool in_gap);

/* A block in no set may be out of generations: its marker then is closed under
 * the last one, or the one before that. */
bool looks_retired(const struct marker_look *look);

#endif
