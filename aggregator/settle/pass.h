/*
 * pass.h - one round of settling hours: what is stale, computed and published.
 *
 * One thread.
 */
#ifndef AGGREGATOR_SETTLE_PASS_H
#define AGGREGATOR_SETTLE_PASS_H

#include <stdbool.h>

#include "aggregator/settle/settling.h"
#include "aggregator/settle/watermark_reader.h"
#include "common/error.h"

struct pass;

/* Takes a copy; what it points to must outlive the pass. */
struct pass *pass_new(const struct settling *settling, struct error *err);
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

/* A topic that complete_until waits for, though others are heard of. */
struct silent_topic {
	char name[TOPIC_MAX]; /* "": there is none */
	int64_t since;	      /* ms */
};

struct pass_result {
	size_t hours;		/* settled */
	size_t hours_added;	/* of them: by what arrived */
	bool more;		/* more is stale: go on at once */
	bool ended;		/* nothing is left out, and `held` is known */
	struct held_back held;	/* now, whenever it was held */
	int64_t complete_until; /* ms; 0: not known */
	struct pass_clocks clocks;
	struct silent_topic silent;
};

/*
 * Settles hours that are stale (hour_turns.h says which, and in which order),
 * then deletes what is superseded of hours that are not over, if it is time. An
 * hour that fails stops no others: the pass fails by it at its end, and *ret is
 * what was done all the same.  Losing the lease is ERROR_STOPPED, retriable,
 * and ends it, and so does a ClickHouse that does not answer.  What is held
 * back is tried again when something else changed it, and with every recheck of
 * everything.
 *
 * While the tables are as they were when a pass found nothing (table_state.h),
 * the next ones read the watermark, and look for the rest once in a few
 * settle_every.
 */
int pass_run(struct pass *pass, struct pass_result *ret, struct error *err);

#endif
