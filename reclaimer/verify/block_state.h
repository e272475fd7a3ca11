/*
 * block_state.h - classifies a block by the one member that claims it and by
 * its marker: its state, and what may be wrong with it.  Pure.
 */
#ifndef RECLAIMER_VERIFY_BLOCK_STATE_H
#define RECLAIMER_VERIFY_BLOCK_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "linkstore/block/markers.h"
#include "linkstore/linkstore.h"
#include "linkstore/space/member_list.h"

/* State of a block by the accounting: each block ever issued is in exactly
 * one. */
enum accounted_state {
	STATE_HELD,  /* issued, and its holder issues from it */
	STATE_LIVE,  /* issued, may have live links */
	STATE_LATER, /* issued and ended, to be scanned later */
	STATE_DUE,   /* issued, to be scanned by the next run */
	STATE_QUARANTINED,
	STATE_POOLED,
	STATE_OUT, /* taken out of circulation by hand */
	STATE_RETIRED,
	STATE_LOST, /* issued, without a marker */
	STATE_GAP, /* issued, without a marker: in a gap when Redis lost data */
	STATE_COUNT_OF,
};

enum trouble {
	TROUBLE_NONE,
	TROUBLE_MISSING,   /* in no set */
	TROUBLE_TWICE,	   /* in several members */
	TROUBLE_MALFORMED, /* a member that cannot be parsed */
	TROUBLE_BEYOND,	   /* above the cursor */
	TROUBLE_POOL_OPEN, /* pooled, but not closed below that generation */
	TROUBLE_POOL_UNMARKED, /* pooled, but without marker */
	TROUBLE_DAMAGED,       /* the marker cannot be parsed */
	TROUBLE_LOST_MARKED,   /* set aside as lost, but it has a marker */
	TROUBLE_STUCK,	       /* ended, but never to be scanned */
	TROUBLE_UNMARKED,      /* opened, and later without a marker */
	TROUBLE_UNOPENED,      /* not opened, and never to be scanned */
	/* The number of retired blocks differs from the record. */
	TROUBLE_RETIRED,
	TROUBLE_EVICTS, /* Redis has evicted keys, or may */
	TROUBLE_LOST,	/* lost; reported only if it is repaired */
	TROUBLE_LINK,	/* a link contradicts its marker */
	TROUBLE_COUNT_OF,
};

/* Returns a short name for tables and JSON, such as "held". */
const char *block_state_name(enum accounted_state state);

struct classify_terms {
	const struct link_space *space;
	int64_t now; /* ms, Redis' clock */
};

struct classification {
	enum accounted_state state;
	enum trouble trouble;
};

/* Facts about a block that are stored outside its member. */
struct block_notes {
	bool in_gap; /* it became issued in a gap, when Redis lost data */
	/* The block's mark shows that it was not opened since its grant. */
	bool unopened;
};

struct classification block_state_classify(const struct classify_terms *terms,
					   const struct found_member *claim,
					   const struct marker_look *look,
					   struct block_notes notes);

/* Whether the classification depends on the mark, which is stored apart. */
bool block_state_needs_mark(const struct classify_terms *terms,
			    const struct found_member *claim,
			    const struct marker_look *look);

/* Whether a block that is in no set has no generations left: then its marker is
 * closed under the last generation, or the one before. */
bool block_state_is_retired(const struct marker_look *look);

#endif
