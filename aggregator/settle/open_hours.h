/*
 * open_hours.h - hours that are settled by what arrived, instead of from all of
 * their rows each time.
 *
 * An hour's frontier says of each source (epoch, topic and partition) up to
 * which offset collectors had reported rows of it when it was settled.  Its
 * next attempt is the one before and the rows of `clicks` between that frontier
 * and the present one.  That holds only while what lies behind the frontier is
 * what the attempt was settled from, which the sums of reports tell, as they
 * tell what is stale; and what is staged is counted against all rows up to the
 * frontier before it is published.  Else the hour is settled from all rows.
 *
 * Frontiers are kept in memory: who takes the settling over settles an hour
 * from all rows once.
 *
 * One thread.
 */
#ifndef AGGREGATOR_SETTLE_OPEN_HOURS_H
#define AGGREGATOR_SETTLE_OPEN_HOURS_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/settle/settling.h"
#include "common/buf.h"

struct open_hours;

struct open_hours *open_hours_new(struct error *err);
void open_hours_free(struct open_hours *o); /* NULL accepted */

/*
 * Whether an hour is settled this way: one that is not over, or not for long,
 * as most of what comes late comes soon.  Not of a day that was dropped, nor
 * when it is provisional and over.
 */
bool open_hours_takes(const struct settling *s, const struct stale *hour);

/* How one hour is to be settled.  The conditions are SQL on rows of `clicks`;
 * they live until the next plan. */
struct open_plan {
	struct stale what; /* as of the frontier */
	const char *upto;  /* up to the frontier */
	const char *added; /* those of them that `base` lacks */
	uint64_t base;	   /* attempt to add to; 0: none, take all rows */
	bool has_rest;	   /* of the base: not all of its values are kept */
};

/*
 * Reads what was reported of an hour.  Returns 1 with a plan, 0 when the hour
 * has to be settled from all rows without a frontier, -1 on error.
 */
int open_hours_plan(struct open_hours *o, const struct settling *s,
		    const struct stale *hour, struct open_plan *ret,
		    struct error *err);

/* The planned hour was published under `attempt`; `has_rest`: not with all
 * values.  Any other end of it is told by open_hours_forget. */
void open_hours_published(struct open_hours *o, uint64_t attempt,
			  bool has_rest);
void open_hours_forget(struct open_hours *o, int64_t start);

#endif
