/*
 * commands.h - the subcommands of the allocator.  Each is in the source of its
 * name in commands/ and returns 0, or -1 and *err.
 */
#ifndef ALLOCATOR_COMMANDS_H
#define ALLOCATOR_COMMANDS_H

#include "common/app/app.h"

/* `config` is a struct allocator_config; make-key reads none. */
app_run_fn command_serve, command_create_space, command_retire_key,
	command_show_spaces, command_domains, command_takedown, command_explain,
	command_make_key;

#endif
