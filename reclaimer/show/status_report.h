/* status_report.h - what `reclaimer status` writes to stdout. */
#ifndef RECLAIMER_SHOW_STATUS_REPORT_H
#define RECLAIMER_SHOW_STATUS_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"
#include "linkstore/space/hand.h"
#include "linkstore/space/ledger.h"
#include "reclaimer/history.h"

#define PAST_RUNS_MAX  5
#define OUT_RANGES_MAX 50

struct space_status {
	const char *space;
	bool there;		    /* the ledger could be read */
	struct space_ledger ledger; /* when there */
	bool refused;		    /* a run would be refused ... */
	struct error reason;	    /* ... for this reason */
	struct past_run runs[PAST_RUNS_MAX];
	size_t run_count;
	/* Taken out by hand; out_total counts those beyond the room, too. */
	struct out_range out[OUT_RANGES_MAX];
	size_t out_count;
	uint64_t out_total;
};

struct status_report {
	const struct space_status *spaces;
	size_t count;
	const char *runs_unknown; /* why there are none, or NULL */
};

int status_text(const struct status_report *report, struct error *err);
int status_json(const struct status_report *report, struct error *err);

#endif
