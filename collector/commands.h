/*
 * commands.h - what runs each subcommand, `config` being a struct
 * collector_config: the daemon is in ingest/, the others are in tools/.
 */
#ifndef COLLECTOR_COMMANDS_H
#define COLLECTOR_COMMANDS_H

#include "common/app/app.h"

/* `serve`: a collector, until it is told to stop. */
app_run_fn collector_serve;

/* `dlq list` and `dlq replay`: 1: some letters that were chosen were not sent.
 */
app_run_fn collector_dlq;

/* `epoch`: 0: all partitions fit, or the decision was noted; 1: some do not
 * fit. */
app_run_fn collector_epoch;

/* `explain`, from stdin to stdout, till its end.  -1 with ERROR_INPUT after the
 * last answer when lines could not be read. */
app_run_fn collector_explain;

/* `guarantee`: 0: exactly once; 1: less, or it could not be measured. */
app_run_fn collector_guarantee;

/* `import`: 1: done, but lines could not be read. */
app_run_fn collector_import;

/* `pass`: what nobody is to read; without --offset lists it. */
app_run_fn collector_pass;

/* `rescore`: 0: all days are done. */
app_run_fn collector_rescore;

/* `verify`: 0: all agrees; 1: it does not. */
app_run_fn collector_verify;

#endif
