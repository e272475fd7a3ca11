/*
 * commands.h - the commands of the program.
 *
 * Each returns 0 on success, 1 on success with findings, -1 and *err on
 * failure.  `config` is a struct aggregator_config.
 */
#ifndef AGGREGATOR_COMMANDS_H
#define AGGREGATOR_COMMANDS_H

#include "common/app/app.h"

/* Applies the migrations; waits for ClickHouse for as long as the option --wait
 * states. */
app_run_fn aggregator_migrate;

/* Settles --from to --to again; ERROR_UNSAFE if some of it is held back. */
app_run_fn aggregator_settle;

/*
 * Shows until when counts are promised as complete.  If a wrong clock made the
 * promise too late, --mend lowers it to what the collectors' reports promise,
 * or to --to.  0: the promise is possible, or was mended; 1: it lies beyond
 * ClickHouse's clock; ERROR_UNSAFE: there is nothing to mend.
 */
app_run_fn aggregator_watermark;

/* Drops days whose rows of `clicks` are older than raw_days, and deletes rows;
 * with --dry-run it only lists them. */
app_run_fn aggregator_retention;

/* Shows on one page what is behind, unsealed or contradictory; returns 0 if
 * nothing is. */
app_run_fn aggregator_doctor;

/*
 * Forgets --visitor, --link or --link-id, or all earlier entries again, in
 * clicks, the archive and counts; collectors read table `forgotten`. --list
 * prints the table, --file reads that output.  ERROR_UNSAFE: a link is still
 * live.
 */
app_run_fn aggregator_forget;

#endif
