/*
 * commands.h - what the program does, by command.
 *
 * Each returns 0 when it is done, 1 when it is done but not all is well, -1 and
 * *err when it could not.  `config` is a struct aggregator_config.
 */
#ifndef AGGREGATOR_COMMANDS_H
#define AGGREGATOR_COMMANDS_H

#include "common/app/app.h"

/* Applies the migrations; waits for a ClickHouse that is late, for as long as
 * the option --wait says. */
app_run_fn aggregator_migrate;

/* Settles --from to --to again; ERROR_UNSAFE when some of it is held back. */
app_run_fn aggregator_settle;

/*
 * Shows what is promised as complete, and with --mend lowers it, where a clock
 * that was wrong made it promise too much, to what the collectors' reports
 * promise or to --to.  0: what is promised can be, or was mended; 1: it lies
 * beyond ClickHouse's clock; ERROR_UNSAFE: there is nothing to mend.
 */
app_run_fn aggregator_watermark;

/* Drops the days whose rows of `clicks` are older than raw_days, and deletes
 * rows; with --dry-run it lists them. */
app_run_fn aggregator_retention;

/* Shows on one page what is behind, unsealed or in disagreement; 0: nothing
 * is. */
app_run_fn aggregator_doctor;

/*
 * Forgets --visitor, --link or --link-id, or again all that was to be forgotten
 * before, in clicks, the archive and counts; collectors are told by table
 * `forgotten`.  --list prints that, --file reads what it printed. ERROR_UNSAFE:
 * a link that is still live.
 */
app_run_fn aggregator_forget;

#endif
