/* import_command.h - `collector import`: past access logs become clicks. */
#ifndef COLLECTOR_TOOLS_IMPORT_IMPORT_COMMAND_H
#define COLLECTOR_TOOLS_IMPORT_IMPORT_COMMAND_H

#include "collector/collector_config.h"
#include "common/app/app.h"
#include "common/error.h"

/* 1: done, but lines could not be read. */
int collector_import(struct app *app, const struct collector_config *config,
		     struct error *err);

#endif
