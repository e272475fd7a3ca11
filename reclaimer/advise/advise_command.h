/* advise_command.h - `reclaimer advise`: what other block sizes and scan
 * intervals would give back and cost, out of a sample of real blocks. */
#ifndef RECLAIMER_ADVISE_ADVISE_COMMAND_H
#define RECLAIMER_ADVISE_ADVISE_COMMAND_H

#include "common/app/app.h"
#include "common/error.h"
#include "reclaimer/options.h"
#include "reclaimer/reclaimer_config.h"

/* Changes nothing. */
int reclaimer_advise(struct app *app, const struct reclaimer_config *config,
		     const struct options *options, struct error *err);

#endif
