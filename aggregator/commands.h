/* commands.h - what the program does, by subcommand. */
#ifndef AGGREGATOR_COMMANDS_H
#define AGGREGATOR_COMMANDS_H

#include "aggregator/aggregator_config.h"
#include "common/app/app.h"
#include "common/error.h"

/* Serves and settles until told to stop. */
int command_serve(const struct aggregator_config *config, struct app *app,
		  struct error *err);

/* Applies the migrations; waits for a ClickHouse that is late, for as long as
 * the option --wait says. */
int command_migrate(const struct aggregator_config *config, struct app *app,
		    struct error *err);

/* Settles --from to --to again; ERROR_UNSAFE when some of it is held back. */
int command_settle(const struct aggregator_config *config, struct app *app,
		   struct error *err);

#endif
