/*
 * patience.h - how long a command waits for a ClickHouse that is away (--wait).
 */
#ifndef COLLECTOR_TOOLS_IMPORT_PATIENCE_H
#define COLLECTOR_TOOLS_IMPORT_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/app/app.h"
#include "common/error.h"

/* Start from `struct patience p = {.app = app, ...};` for each action. */
struct patience {
	struct app *app;
	int64_t wait_ms;  /* after the first failure */
	int64_t pause_ms; /* the longest pause between two tries */
	int64_t until;	  /* monotonic ms; 0: no failure yet */
	unsigned failures;
};

/* Call it after a failure: pauses, and returns whether to try again; `err` is
 * empty then.  Logs the first failure as a warning. */
bool patience_may_retry(struct patience *p, struct error *err);

#endif
