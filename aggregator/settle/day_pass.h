/*
 * day_pass.h - one round of what is done with days: settled, sealed, copied for
 * owners, rolled up, dropped, and cleaned up after.
 *
 * One thread.
 */
#ifndef AGGREGATOR_SETTLE_DAY_PASS_H
#define AGGREGATOR_SETTLE_DAY_PASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggregator/settle/drop.h"
#include "aggregator/settle/repeats.h"
#include "aggregator/settle/settling.h"
#include "common/error.h"

struct day_pass;

/* Takes a copy; what it points to must outlive the pass. */
struct day_pass *day_pass_new(const struct settling *settling,
			      struct error *err);
void day_pass_free(struct day_pass *pass); /* NULL accepted */

struct day_pass_result {
	size_t days;		     /* settled */
	size_t sealed;		     /* days */
	size_t owner_days;	     /* settled */
	size_t value_days;	     /* settled */
	size_t rolled_up;	     /* days */
	size_t dropped;		     /* days */
	struct drop_outcome drop;    /* of the last that was to be */
	struct drop_deleted deleted; /* of days that were dropped */
	int64_t kept_from;	/* months before were dropped; 0: none was */
	bool more;		/* more is to be done: go on at once */
	bool ended;		/* nothing is left out */
	int64_t complete_until; /* ms, as it was last read; 0: not known */
	struct repeats_removed removed; /* from days before they are dropped */
};

/*
 * With `days`: settles at most one day, then seals at most one, then copies one
 * for owners, then one's values, then rolls one up, then drops one, until one
 * of them is done. Then deletes what is superseded or dropped if it is time.  A
 * day that fails stops neither others, of which the next pass takes the next,
 * nor what comes after it in this one, which fails by it at its end; *ret is
 * what was done all the same.  Losing the lease is ERROR_STOPPED, retriable,
 * and ends it, and so does a ClickHouse that does not answer.  What is held
 * back is tried again when something else changed it, and with every recheck of
 * everything.
 *
 * While the tables are as they were when a pass found nothing (table_state.h),
 * the next ones delete what is superseded, and look for the rest once in a few
 * settle_every.
 */
int day_pass_run(struct day_pass *pass, bool days, struct day_pass_result *ret,
		 struct error *err);

#endif
