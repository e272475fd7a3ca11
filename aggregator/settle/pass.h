/*
 * pass.h - one round of settling: what is stale, computed and published.
 *
 * One thread.
 */
#ifndef AGGREGATOR_SETTLE_PASS_H
#define AGGREGATOR_SETTLE_PASS_H

#include <stdbool.h>

#include "aggregator/aggregator_config.h"
#include "aggregator/settle/lease.h"
#include "aggregator/settle/settling.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

struct pass;

/* All arguments must outlive the pass.  `stopping` is asked between hours;
 * `on_shortage` is called for hours and days of which rows are gone. */
struct pass *pass_new(const struct aggregator_settings *settings,
		      struct clickhouse *ch, struct lease *lease,
		      bool (*stopping)(void *arg),
		      void (*on_shortage)(void *arg, const struct shortage *s),
		      void *arg, struct error *err);
void pass_free(struct pass *pass); /* NULL accepted */

/* What a pass found out about clocks that are wrong. */
struct pass_clocks {
	int64_t server_ms; /* ClickHouse's */
	int64_t ahead_ms;  /* of times reported that lie beyond it; 0: none does
			    */
	bool went_back;	   /* by more than half of progress_overlap */
	/* Hours that a recheck found and a pass would not have. */
	size_t late_hours;
};

struct pass_result {
	size_t hours;		/* settled */
	size_t hours_added;	/* of them: by what arrived */
	size_t days;		/* settled */
	size_t owner_days;	/* settled */
	size_t sealed;		/* days */
	size_t rolled_up;	/* days */
	size_t dropped;		/* days */
	int64_t dropped_day;	/* the last of them, seconds since 1970 */
	uint64_t rows_deleted;	/* of days that were dropped */
	int64_t kept_from;	/* months before were dropped; 0: none was */
	bool more;		/* more is stale: go on at once */
	bool ended;		/* nothing is left out, and `held` is known */
	struct held_back held;	/* now, whenever it was held */
	int64_t complete_until; /* ms; 0: not known */
	struct pass_clocks clocks;
};

/*
 * Settles hours that are stale (hour_turns.h says which, and in which order),
 * then at most one day, then seals at most one, then copies one for owners,
 * then rolls one up, then drops one, then deletes what is superseded or dropped
 * if it is time.  An hour or day that fails stops neither others, of which the
 * next pass takes the next, nor what comes after it in this one, which fails by
 * it at its end; *ret is what was done all the same.  Losing the lease is
 * ERROR_STOPPED, retriable, and ends it, and so does a ClickHouse that does not
 * answer.  What is held back is tried again when something else changed it, and
 * with every recheck of
 * everything.
 *
 * While the tables are as they were when a pass found nothing (table_state.h),
 * the next ones read the watermark and delete what is superseded, and look for
 * the rest once in a few settle_every.
 */
int pass_run(struct pass *pass, struct pass_result *ret, struct error *err);

#endif
