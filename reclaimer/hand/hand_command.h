/* hand_command.h - `reclaimer hold` and `reclaimer release`: blocks taken out
 * of circulation by hand, and put back. */
#ifndef RECLAIMER_HAND_HAND_COMMAND_H
#define RECLAIMER_HAND_HAND_COMMAND_H

#include "common/app/app.h"
#include "common/error.h"
#include "reclaimer/options.h"
#include "reclaimer/reclaimer_config.h"

/* ERROR_USAGE: --blocks or --reason make no sense.  Else as space_hold and
 * space_release; a space that cannot be believed is ERROR_UNSAFE. */
int reclaimer_hold(struct app *app, const struct reclaimer_config *config,
		   const struct options *options, struct error *err);
int reclaimer_release(struct app *app, const struct reclaimer_config *config,
		      const struct options *options, struct error *err);

#endif
