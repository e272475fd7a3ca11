/*
 * commands.h - the functions that run the subcommands; `config` is a struct
 * collector_config.  The daemon is in ingest/, the other commands are in
 * tools/.
 */
#ifndef COLLECTOR_COMMANDS_H
#define COLLECTOR_COMMANDS_H

#include "common/app/app.h"

/* `serve`: runs a collector until it is stopped. */
app_run_fn collector_serve;

/* `dlq list` and `dlq replay`.  Returns 1 if some chosen letters were not
 * sent. */
app_run_fn collector_dlq;

/* `epoch`.  Returns 0 if all partitions fit, or the decision was stored; 1 if
 * some do not fit. */
app_run_fn collector_epoch;

/* `explain`, from stdin to stdout, until the input ends.  Returns -1 with
 * ERROR_INPUT after the last answer if lines were unreadable. */
app_run_fn collector_explain;

/* `guarantee`.  Returns 0: exactly once; 1: less, or it was not measured. */
app_run_fn collector_guarantee;

/* `import`.  Returns 1: done, but some lines were unreadable. */
app_run_fn collector_import;

/* `pass`: adds offsets to pass over; without --offset lists them. */
app_run_fn collector_pass;

/* `rescore`.  Returns 0: all days are done. */
app_run_fn collector_rescore;

/* `verify`.  Returns 0: all agrees; 1: it does not. */
app_run_fn collector_verify;

#endif
