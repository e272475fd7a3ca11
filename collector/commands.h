/*
 * commands.h - the subcommands beside `serve`, each in tools/.  Each returns 0
 * when it is done, 1 when it is done but not all is well, -1 and *err when it
 * could not.
 */
#ifndef COLLECTOR_COMMANDS_H
#define COLLECTOR_COMMANDS_H

#include "collector/collector_config.h"
#include "common/app/app.h"
#include "common/error.h"

/* `dlq list` and `dlq replay`: 1: some letters that were chosen were not sent.
 */
int collector_dlq(struct app *app, const struct collector_config *config,
		  struct error *err);

/* `epoch`: 0: all partitions fit, or the decision was noted; 1: some do not
 * fit. */
int collector_epoch(struct app *app, const struct collector_config *config,
		    struct error *err);

/* `explain`, from stdin to stdout, till its end.  -1 with ERROR_INPUT after the
 * last answer when lines could not be read. */
int collector_explain(struct app *app, const struct collector_config *config,
		      struct error *err);

/* `guarantee`: 0: exactly once; 1: less, or it could not be measured. */
int collector_guarantee(struct app *app, const struct collector_config *config,
			struct error *err);

/* `import`: 1: done, but lines could not be read. */
int collector_import(struct app *app, const struct collector_config *config,
		     struct error *err);

/* `rescore`: 0: all days are done. */
int collector_rescore(struct app *app, const struct collector_config *config,
		      struct error *err);

/* `verify`: 0: all agrees; 1: it does not. */
int collector_verify(struct app *app, const struct collector_config *config,
		     struct error *err);

#endif
