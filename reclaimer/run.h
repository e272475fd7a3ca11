/* run.h - `reclaimer run`: all spaces in turn, a summary, a row in the archive.
 */
#ifndef RECLAIMER_RUN_H
#define RECLAIMER_RUN_H

#include "common/app/app.h"
#include "common/error.h"
#include "reclaimer/options.h"
#include "reclaimer/reclaimer_config.h"

/*
 * A space that fails does not keep the next one from being reclaimed, unless
 * Redis is away; the first failure is returned.  The summary is written in any
 * case.  SIGTERM ends it between two chunks, with success.
 */
int reclaimer_run(struct app *app, const struct reclaimer_config *config,
		  const struct options *options, struct error *err);

#endif
