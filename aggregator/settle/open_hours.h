/*
 * open_hours.h - hours that are settled by what arrived, instead of from all of
 * their rows each time.
 *
 * An hour's frontier has, for each source (epoch, topic and partition), the
 * offset up to which collectors had reported rows when the hour was settled.
 * Its next attempt is the previous attempt plus the rows of `clicks` between
 * that frontier and the present one.  That is correct only while the rows
 * behind the frontier are the ones that the attempt was settled from: sums of
 * the reports show this, as they show which hours are stale.  Also, the staged
 * events are compared with all rows up to the frontier before they are
 * published.  Otherwise the hour is settled from all rows.
 *
 * Frontiers are kept in memory: a process that takes over the settling settles
 * an hour from all rows once.
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
 * Whether an hour is settled this way: it is not over, or not for long, because
 * most late clicks come soon.  Hours of a dropped day are not, nor hours that
 * are provisional and over.
 */
bool open_hours_takes(const struct settling *s, const struct stale *hour);

/* A plan for settling one hour.  The conditions are SQL on rows of `clicks`;
 * they are valid until the next plan. */
struct open_plan {
	struct stale what; /* as of the frontier */
	const char *upto;  /* condition: rows up to the frontier */
	const char *added; /* condition: those of them that `base` lacks */
	uint64_t base;	   /* attempt to add to; 0: none, take all rows */
	bool has_rest;	   /* the base does not keep all of its values */
};

/* Reads the reports about an hour.  Returns 1 with a plan, 0 if the hour has to
 * be settled from all rows without a frontier, -1 on error. */
int open_hours_plan(struct open_hours *o, const struct settling *s,
		    const struct stale *hour, struct open_plan *ret,
		    struct error *err);

/* The planned hour was published under `attempt`; `has_rest`: not with all
 * values.  In all other cases the caller calls open_hours_forget. */
void open_hours_published(struct open_hours *o, uint64_t attempt,
			  bool has_rest);
void open_hours_forget(struct open_hours *o, int64_t start);

#endif
