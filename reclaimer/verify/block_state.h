/*
 * block_state.h - which state a block is in, and what may be wrong with it: by
 * the one member that claims it and by its marker.  Pure.
 */
#ifndef RECLAIMER_VERIFY_BLOCK_STATE_H
#define RECLAIMER_VERIFY_BLOCK_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "linkstore/block/markers.h"
#include "linkstore/linkstore.h"
#include "linkstore/space/member_list.h"

/* What the accounting says of a block: each block ever issued is in exactly one
 * of these. */
enum accounted_state {
	STATE_HELD,  /* issued, and in its holder's hands */
	STATE_LIVE,  /* issued, links of it may be alive */
	STATE_LATER, /* issued and ended, to be scanned later */
	STATE_DUE,   /* issued, to be scanned by the next run */
	STATE_QUARANTINED,
	STATE_POOLED,
	STATE_OUT, /* taken out by hand */
	STATE_RETIRED,
	STATE_LOST, /* issued, without a marker */
	STATE_GAP,  /* the same, but skipped when Redis forgot */
	STATE_COUNT_OF,
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
	TROUBLE_STUCK,	       /* ended, but never to be scanned */
	TROUBLE_UNMARKED,      /* opened, and without marker since */
	TROUBLE_UNOPENED,      /* not opened, and never to be scanned */
	TROUBLE_RETIRED,       /* not as many are retired as is written down */
	TROUBLE_EVICTS,	       /* Redis has dropped keys, or may */
	TROUBLE_LOST,	       /* lost, reported only when it is repaired */
	TROUBLE_LINK,	       /* a link against its marker */
	TROUBLE_COUNT_OF,
};

/* "held": short, for tables and JSON. */
const char *block_state_name(enum accounted_state state);

struct classify_terms {
	const struct link_space *space;
	int64_t now; /* ms, Redis' clock */
};

struct classification {
	enum accounted_state state;
	enum trouble trouble;
};

/* What the space says of a block beside its member. */
struct block_notes {
	bool in_gap;   /* one of those that became issued when Redis forgot */
	bool unopened; /* marked as not opened since it was granted */
};

struct classification block_state_classify(const struct classify_terms *terms,
					   const struct found_member *claim,
					   const struct marker_look *look,
					   struct block_notes notes);

/* Does it depend on the mark, which is kept apart? */
bool block_state_needs_mark(const struct classify_terms *terms,
			    const struct found_member *claim,
			    const struct marker_look *look);

/* A block in no set may be out of generations: its marker then is closed under
 * the last one, or the one before that. */
bool block_state_is_retired(const struct marker_look *look);

#endif
