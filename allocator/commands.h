/* commands.h - what the allocator does by hand rather than as a daemon. */
#ifndef ALLOCATOR_COMMANDS_H
#define ALLOCATOR_COMMANDS_H

#include "allocator/allocator_config.h"
#include "common/app/app.h"
#include "linkstore/linkstore.h"

/* `allocator create-space --space NAME [--first-block N] [--no-archive]` */
int command_create_space(const struct allocator_config *config,
			 const struct app *app, struct error *err);

/* `allocator retire-key --space NAME --key-version N` */
int command_retire_key(const struct allocator_config *config,
		       const struct app *app, struct error *err);

/* `allocator spaces [--space NAME] [--json]` */
int command_spaces(const struct allocator_config *config, const struct app *app,
		   struct error *err);

/* ERROR_USAGE: --space is missing (NULL) or no such space, but these are. */
void command_refuse_space(const struct linkstore *store, const char *given,
			  struct error *err);

/* `allocator make-key --name NAME --roles ROLE[,ROLE] [--rate N/s]` */
int command_make_key(const struct app *app, struct error *err);

#endif
