/*
 * verify_command.h - `collector verify`: is every event that Kafka got counted
 * once?
 *
 * Per partition, what Kafka holds against the rows of ClickHouse and the dead
 * letters, offset by offset; times against ClickHouse's clock; then what was
 * settled against the rows.  Changes nothing, and may run while everything else
 * does.
 */
#ifndef COLLECTOR_TOOLS_VERIFY_VERIFY_COMMAND_H
#define COLLECTOR_TOOLS_VERIFY_VERIFY_COMMAND_H

#include "collector/collector_config.h"
#include "common/app/app.h"
#include "common/error.h"

/* 0 all agrees, 1 not; -1 and *err. */
int collector_verify(struct app *app, const struct collector_config *config,
		     struct error *err);

#endif
