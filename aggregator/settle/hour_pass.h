/*
 * hour_pass.h - one pass over hours: finds stale ones, computes and publishes
 * them.
 *
 * One thread.
 */
#ifndef AGGREGATOR_SETTLE_HOUR_PASS_H
#define AGGREGATOR_SETTLE_HOUR_PASS_H

#include <stdbool.h>

#include "aggregator/settle/settling.h"
#include "aggregator/settle/watermark_reader.h"
#include "common/error.h"

struct hour_pass;

/* Copies *settling; what it points to must outlive the pass. */
struct hour_pass *hour_pass_new(const struct settling *settling,
				struct error *err);
void hour_pass_free(struct hour_pass *pass); /* NULL accepted */

/* Wrong clocks that a pass has found. */
struct pass_clocks {
	int64_t server_ms; /* ClickHouse's */
	/* Distance of reported times beyond it; 0: none is beyond. */
	int64_t ahead_ms;
	bool went_back; /* by more than half of progress_overlap */
	/* Hours that a recheck found and a normal pass would have missed. */
	size_t late_hours;
};

/* A topic that complete_until waits for, although others still report. */
struct silent_topic {
	char name[TOPIC_MAX]; /* "": there is none */
	int64_t since;	      /* ms */
};

struct hour_pass_result {
	size_t hours;	    /* hours settled */
	size_t hours_added; /* hours settled by the rows that arrived */
	bool more;  /* more hours are stale: run the next pass at once */
	bool ended; /* nothing was skipped, and `held` is known */
	bool found; /* there was work, or an hour to hold back */
	struct held_back held;	/* all hours and days that are held back now */
	int64_t complete_until; /* ms; 0: not known */
	struct pass_clocks clocks;
	struct silent_topic silent;
};

/*
 * Settles stale hours (hour_turns.h says which, and in which order), then
 * deletes superseded attempts of hours that are not over, if that is due.  An
 * hour that fails stops no others: the pass returns the error at its end, and
 * *ret is set even then.  Loss of the lease (ERROR_STOPPED, retriable) and a
 * ClickHouse that does not answer end the pass.  An hour that is held back is
 * tried again when something else changed it, and at every recheck of
 * everything.
 *
 * While the tables are as they were when a pass found no work (table_state.h),
 * later passes only read the watermark, and look for other work once in a few
 * settle_every.
 */
int hour_pass_run(struct hour_pass *pass, struct hour_pass_result *ret,
		  struct error *err);

#endif
