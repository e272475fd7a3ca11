/* history_command.h - `reclaimer history`: the runs so far, and what each day
 * brought. */
#ifndef RECLAIMER_RUNS_HISTORY_COMMAND_H
#define RECLAIMER_RUNS_HISTORY_COMMAND_H

#include "common/app/app.h"
#include "common/error.h"
#include "reclaimer/options.h"
#include "reclaimer/reclaimer_config.h"

/* Asks ClickHouse alone.  A space that is no longer configured may be named. */
int reclaimer_history(struct app *app, const struct reclaimer_config *config,
		      const struct options *options, struct error *err);

#endif
