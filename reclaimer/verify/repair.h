/*
 * repair.h - puts right what a survey found, under the reclaimer's lock.
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
 *	unopened	set aside as lost, since a run would believe the marker
 *			of the generation before; and then
 *	lost, gap	pooled under the next generation, once the archive knows
 *			of no link of that generation or a later one and Redis
 *			has none; closed before, so that a late open fails
 *
 * The rest - malformed members, members above the cursor, damaged markers,
 * links against their markers - is left to people.
 */
#ifndef RECLAIMER_VERIFY_REPAIR_H
#define RECLAIMER_VERIFY_REPAIR_H

#include <stdint.h>

#include "common/clickhouse/clickhouse.h"
#include "common/error.h"
#include "linkstore/space/reclaim.h"
#include "linkstore/space/repair.h"
#include "reclaimer/verify/survey.h"

struct repair {
	struct survey *survey; /* run under `lock`, with wants_lost */
	const struct reclaim_lock *lock;
	struct clickhouse *archive; /* which answered archive_links_probe */
	struct repair_note note;
	uint64_t freed; /* lost blocks, back in the pool; its own */
	/* Lost blocks of which there are links, which have a marker again, or
	 * which are out of generations; its own. */
	uint64_t kept;
};

/* Marks the findings it repaired, and adds one, repaired, for each range of
 * lost blocks it freed, and one for those that the survey had no room for. What
 * was repaired until an error stays so. */
int repair_run(struct repair *r, struct error *err);

#endif
