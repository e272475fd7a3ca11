/*
 * forget_days.h - removes visitors and links from clicks and their counts, one
 * UTC day at a time.
 *
 * The begin and end of a day's run are recorded in table `rescored`, as
 * `collector rescore` does (with rules 0): the day is not dropped in between,
 * and days whose hours were not yet reported as stale are known.
 */
#ifndef AGGREGATOR_FORGET_FORGET_DAYS_H
#define AGGREGATOR_FORGET_FORGET_DAYS_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/forget/forget_list.h"
#include "aggregator/settle/settling.h"
#include "common/app/app.h"
#include "common/buf.h"

/* Most statements of a run after the row that records its begin.  A run that
 * began longer ago than these can take, settle_timeout each, has ended. */
#define FORGET_DAYS_STATEMENTS_MAX 6

struct forget_day {
	int64_t start; /* seconds since 1970, UTC */
	uint64_t rows; /* rows of clicks, or sealed_slots if it is dropped */
	bool dropped;
	struct buf hours; /* "[1792800000,1792803600]" */
};

struct forget_days {
	struct forget_day *items;
	size_t count;
};
void forget_days_release(struct forget_days *days);

/*
 * Finds the days that still have visitors and links of the list (at most
 * FORGET_AT_ONCE): in rows, or in settled counts of days whose rows are
 * dropped.
 */
int forget_days_find(const struct settling *s, const struct forget_list *list,
		     bool dropped, struct forget_days *ret, struct error *err);

/* Forgets the entries of the list in one day. */
int forget_day_run(const struct settling *s, const struct forget_list *list,
		   const struct forget_day *day, struct error *err);

/* Earlier runs that have not ended. */
struct forget_resumed {
	uint64_t ended; /* they were killed; this call ended them */
	uint64_t going; /* they may still be running, and are left alone */
};

/* Waits for changes that killed runs had sent, then reports the hours as stale
 * that these runs had not reported. */
int forget_days_resume(const struct settling *s, struct app *app,
		       struct forget_resumed *ret, struct error *err);

#endif
