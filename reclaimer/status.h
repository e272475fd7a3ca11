/* status.h - `reclaimer status`: what each space has, and the last runs. */
#ifndef RECLAIMER_STATUS_H
#define RECLAIMER_STATUS_H

#include "common/app/app.h"
#include "common/error.h"
#include "reclaimer/options.h"
#include "reclaimer/reclaimer_config.h"

/* Changes nothing.  A space that is missing, or in which a run would be
 * refused, is told and no failure. */
int reclaimer_status(struct app *app, const struct reclaimer_config *config,
		     const struct options *options, struct error *err);

#endif
