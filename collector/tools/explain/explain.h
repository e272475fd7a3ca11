/*
 * explain.h - `collector explain`: what the collector would make of visits,
 * NDJSON in and out, line by line.
 *
 * Every line of input has its line of output, in order; blank and broken ones
 * have an object with `error`.  All that has been read is answered before more
 * is waited for, so the command can be talked to like a function.
 */
#ifndef COLLECTOR_TOOLS_EXPLAIN_EXPLAIN_H
#define COLLECTOR_TOOLS_EXPLAIN_EXPLAIN_H

#include "collector/collector_config.h"
#include "common/app/app.h"
#include "common/error.h"

/* From stdin to stdout, till its end.  -1 with ERROR_INPUT after the last
 * answer when lines could not be read. */
int collector_explain(struct app *app, const struct collector_config *config,
		      struct error *err);

#endif
