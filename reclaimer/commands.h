/*
 * commands.h - the commands of the program.
 *
 * Each returns 0 on success, 1 on success with findings, -1 and *err on
 * failure.  `config` is a struct reclaimer_config.
 */
#ifndef RECLAIMER_COMMANDS_H
#define RECLAIMER_COMMANDS_H

#include "common/app/app.h"

/*
 * Reclaims all spaces in turn, writes a summary, and a row in ClickHouse's
 * reclaim_runs.  A space that fails does not stop the next one, unless Redis
 * does not answer.  The worst failure is returned: the first that needs a
 * person, else the first.  The summary is written in any case.  SIGTERM ends
 * the run between two chunks, with success.
 */
app_run_fn reclaimer_run;

/*
 * Shows the ledger of each space and the last runs.  Changes nothing.  A space
 * that is missing, or in which a run would be refused, is reported and is no
 * failure.
 */
app_run_fn reclaimer_status;

/*
 * Checks that each block is in exactly one state, and each link within its
 * block's life.  0: no findings; 1: findings remain.  Changes nothing without
 * --repair.  A space that cannot be scanned does not stop the next one.  The
 * worst result is returned, in this order: a failure that needs a person
 * (ERROR_UNSAFE); findings; a failure that passes: ERROR_BUSY (with --repair: a
 * run is in progress), ERROR_REMOTE (Redis or, with --repair, ClickHouse does
 * not answer).
 */
app_run_fn reclaimer_verify;

/* Shows past runs and the totals of each day.  Queries only ClickHouse: --space
 * may name a space that is no longer configured. */
app_run_fn reclaimer_history;

/* Estimates what other block sizes and scan intervals would free and cost, from
 * a sample of real blocks.  Changes nothing. */
app_run_fn reclaimer_advise;

/*
 * Take blocks out of circulation by hand, and put them back.  ERROR_USAGE:
 * --blocks or --reason is invalid.  Otherwise as space_hold and space_release;
 * a space that cannot be trusted is ERROR_UNSAFE.
 */
app_run_fn reclaimer_hold;
app_run_fn reclaimer_release;

#endif
