/* report.h - the summary of a run on stdout. */
#ifndef RECLAIMER_SHOW_REPORT_H
#define RECLAIMER_SHOW_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"
#include "reclaimer/outcome.h"

struct report {
	const struct outcome *outcomes;
	size_t count;
	bool dry_run;
	bool interrupted;
};

int report_text(const struct report *report, struct error *err);

/* {"dry_run", "interrupted", "spaces": [{"space", "scanned", ...}]} */
int report_json(const struct report *report, struct error *err);

#endif
