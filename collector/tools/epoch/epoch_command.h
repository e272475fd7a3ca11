/*
 * epoch_command.h - `collector epoch`: shows how a topic's offsets fit the rows
 * stored of it, and takes an operator's word where they do not.
 */
#ifndef COLLECTOR_TOOLS_EPOCH_EPOCH_COMMAND_H
#define COLLECTOR_TOOLS_EPOCH_EPOCH_COMMAND_H

#include "collector/collector_config.h"
#include "common/app/app.h"
#include "common/error.h"

/* 0: all partitions fit, or the decision was noted; 1: some do not fit. */
int collector_epoch(struct app *app, const struct collector_config *config,
		    struct error *err);

#endif
