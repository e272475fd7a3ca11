/*
 * dlq_command.h - `collector dlq list` and `collector dlq replay`: what could
 * not be stored, and another try.
 *
 * A letter is sent again together with its mark, in one transaction: killed at
 * any point it was sent, and is known to be, or neither.
 */
#ifndef COLLECTOR_TOOLS_DLQ_DLQ_COMMAND_H
#define COLLECTOR_TOOLS_DLQ_DLQ_COMMAND_H

#include "collector/collector_config.h"
#include "common/app/app.h"
#include "common/error.h"

/* 0 done, 1 done, but some that were chosen were not sent; -1 and *err. */
int collector_dlq(struct app *app, const struct collector_config *config,
		  struct error *err);

#endif
