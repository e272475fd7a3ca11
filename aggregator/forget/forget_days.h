/*
 * forget_days.h - takes what is to be forgotten out of clicks and their counts,
 * a UTC day at a time.
 *
 * A day is begun and ended in table `rescored`, as `collector rescore` does
 * (with rules 0): it is not dropped in between, and whose hours were not told
 * to be settled again is known.
 */
#ifndef AGGREGATOR_FORGET_FORGET_DAYS_H
#define AGGREGATOR_FORGET_FORGET_DAYS_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/forget/forget_list.h"
#include "aggregator/settle/settling.h"
#include "common/app/app.h"
#include "common/buf.h"

/* Of a run over a day, behind the row that says that it begins.  What began
 * longer ago than these can take, settle_timeout each, goes on no more. */
#define FORGET_DAYS_STATEMENTS_MAX 6

struct forget_day {
	int64_t start; /* seconds since 1970, UTC */
	uint64_t rows; /* of clicks; of sealed_slots of a dropped one */
	bool dropped;
	struct buf hours; /* "[1792800000,1792803600]" */
};

struct forget_days {
	struct forget_day *items;
	size_t count;
};
void forget_days_release(struct forget_days *days);

/* The days on which something is left of the list's visitors and links, which
 * are FORGET_AT_ONCE at most: in rows, or in what was settled of days whose
 * rows are dropped. */
int forget_days_find(const struct settling *s, const struct forget_list *list,
		     bool dropped, struct forget_days *ret, struct error *err);

/* Forgets them of one day. */
int forget_day_run(const struct settling *s, const struct forget_list *list,
		   const struct forget_day *day, struct error *err);

/* Runs before this one that have not ended. */
struct forget_resumed {
	uint64_t ended; /* they were stopped */
	uint64_t going; /* they may be going on, and are left alone */
};

/* Tells hours to be settled again that runs which were stopped did not get to,
 * once what these have under way is done. */
int forget_days_resume(const struct settling *s, struct app *app,
		       struct forget_resumed *ret, struct error *err);

#endif
