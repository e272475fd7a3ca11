/*
 * commands.h - what the program does, by command.
 *
 * Each returns 0 when it is done, 1 when it is done but not all is well, -1 and
 * *err when it could not.  `config` is a struct reclaimer_config.
 */
#ifndef RECLAIMER_COMMANDS_H
#define RECLAIMER_COMMANDS_H

#include "common/app/app.h"

/*
 * All spaces in turn, a summary, a row in ClickHouse's reclaim_runs.  A space
 * that fails does not keep the next one from being reclaimed, unless Redis is
 * away; the worst failure is returned: the first that needs a person, else the
 * first.  The summary is written in any case.  SIGTERM ends it between two
 * chunks, with success.
 */
app_run_fn reclaimer_run;

/* What each space has, and the last runs.  Changes nothing.  A space that is
 * missing, or in which a run would be refused, is reported and no failure. */
app_run_fn reclaimer_status;

/*
 * Is each block in exactly one state, and each link within its block's life?
 * 0: all is well; 1: findings remain.  Changes nothing without --repair.  A
 * space that cannot be scanned does not keep the next from it; the worst that
 * came of them is returned: a failure that needs a person (ERROR_UNSAFE), then
 * findings, then one that passes: ERROR_BUSY (with --repair: a run is at it),
 * ERROR_REMOTE (Redis or, with --repair, ClickHouse is away).
 */
app_run_fn reclaimer_verify;

/* The runs so far, and what each day brought.  Asks ClickHouse alone: a space
 * that is no longer configured may be named. */
app_run_fn reclaimer_history;

/* What other block sizes and scan intervals would give back and cost, out of a
 * sample of real blocks.  Changes nothing. */
app_run_fn reclaimer_advise;

/* Blocks taken out of circulation by hand, and put back.  ERROR_USAGE: --blocks
 * or --reason make no sense.  Else as space_hold and space_release; a space
 * that cannot be believed is ERROR_UNSAFE. */
app_run_fn reclaimer_hold;
app_run_fn reclaimer_release;

#endif
