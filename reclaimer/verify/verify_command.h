/* verify_command.h - `reclaimer verify`: is each block in exactly one state,
 * and each link within its block's life? */
#ifndef RECLAIMER_VERIFY_VERIFY_COMMAND_H
#define RECLAIMER_VERIFY_VERIFY_COMMAND_H

#include "common/app/app.h"
#include "common/error.h"
#include "reclaimer/options.h"
#include "reclaimer/reclaimer_config.h"

/*
 * 0: all is well; 1: findings remain.  Changes nothing without --repair.  A
 * space that cannot be looked at does not keep the next from it; the first
 * failure is returned: ERROR_UNSAFE, ERROR_BUSY (with --repair: a run is at
 * it), ERROR_REMOTE (Redis or, with --repair, ClickHouse is away).
 */
int reclaimer_verify(struct app *app, const struct reclaimer_config *config,
		     const struct options *options, struct error *err);

#endif
