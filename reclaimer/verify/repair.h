/*
 * repair.h - repairs the findings of a survey, under the reclaimer's lock.
 *
 *	twice		stays once, in the stricter state (repair_plan)
 *	missing		becomes issued, due when no link that might have been
 *			granted unseen can be alive: after hold_max and the
 *			longest TTL
 *	pooled, but	goes back to issued, due now: the next run decides by
 *	  open, unmarked  its marker
 *	lost, but	the same
 *	  marked; stuck;
 *	  unmarked
 *	unopened	set aside as lost, since a run would trust the marker
 *			of the generation before; and then
 *	lost, gap	pooled under the next generation, if neither the archive
 *			nor Redis has a link of that generation or a later one;
 *			closed before, so that a late open fails
 *
 * Other findings (malformed members, members above the cursor, damaged markers,
 * links that contradict their markers) are left to an operator.
 */
#ifndef RECLAIMER_VERIFY_REPAIR_H
#define RECLAIMER_VERIFY_REPAIR_H

#include <stdint.h>

#include "common/clickhouse/clickhouse.h"
#include "common/error.h"
#include "linkstore/space/reclaim.h"
#include "linkstore/space/space_repair.h"
#include "reclaimer/verify/survey.h"

struct repair {
	struct survey *survey; /* was run under `lock`, with wants_lost */
	const struct reclaim_lock *lock;
	/* Checked with archive_links_probe. */
	struct clickhouse *archive;
	struct repair_note note;
	uint64_t freed; /* lost blocks, back in the pool; set by repair_run */
	/* Lost blocks that have links, have a marker again, or have no
	 * generations left; set by repair_run. */
	uint64_t kept;
};

/*
 * Marks repaired findings, and adds a repaired one for each range of lost
 * blocks that it freed, and one for the ranges that the survey had no room for.
 * After an error, earlier repairs stay.
 */
int repair_run(struct repair *r, struct error *err);

#endif
