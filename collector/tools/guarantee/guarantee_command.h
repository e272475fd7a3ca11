/* guarantee_command.h - `collector guarantee`: what the ClickHouse at hand was
 * measured to promise. */
#ifndef COLLECTOR_TOOLS_GUARANTEE_GUARANTEE_COMMAND_H
#define COLLECTOR_TOOLS_GUARANTEE_GUARANTEE_COMMAND_H

#include "collector/collector_config.h"
#include "common/app/app.h"

/* 0: exactly once; 1: less, or it could not be measured. */
int collector_guarantee(struct app *app, const struct collector_config *config,
			struct error *err);

#endif
