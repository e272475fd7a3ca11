/*
 * commands.h - what the program does, by subcommand.  Each returns 0 when it is
 * done, 1 when it is done but not all is well, -1 and *err when it could not.
 */
#ifndef COLLECTOR_COMMANDS_H
#define COLLECTOR_COMMANDS_H

#include "collector/collector_config.h"
#include "common/app/app.h"
#include "common/error.h"

/* For app_spec; commands.c says which function each is. */
extern const struct app_command collector_commands[];
extern const struct app_option collector_options[];

/* For --check: reads the files that a start reads.  `config` is a struct
 * collector_config.  A bad file is ERROR_CONFIG. */
int collector_check(const void *config, struct error *err);

/* Carries out the one that was given, or `serve`. */
int collector_run_command(struct app *app,
			  const struct collector_config *config,
			  struct error *err);

#endif
