#include <sodium.h>
#include <string.h>
#include <sysexits.h>

#include "allocator/allocator.h"
#include "allocator/allocator_config.h"
#include "allocator/commands.h"
#include "common/app/app.h"

static const struct app_command commands[] = {
	{"serve", "serve the API", NULL},
	{"create-space", "make a space in Redis, once (--space)", NULL},
	{"retire-key", "take a key of a space out of use (--key-version)",
	 NULL},
	{"spaces", "show what spaces have left (--space, --json)", NULL},
	{"make-key", "make an API key and its line (--name, --roles)", NULL},
	{0},
};

static const struct app_option options[] = {
	{"space", "NAME", "which of links.spaces",
	 "create-space retire-key spaces"},
	{"json", NULL, "as GET /v1/spaces answers it", "spaces"},
	{"first-block", "N", "where to begin, when Redis has lost the space",
	 "create-space"},
	{"no-archive", NULL, "do not ask ClickHouse what was issued",
	 "create-space"},
	{"key-version", "N", "which of the space's keys", "retire-key"},
	{"name", "NAME", "whose key it is", "make-key"},
	{"roles", "ROLES", "out of read, read-own, create and admin",
	 "make-key"},
	{"account", "NAME", "whose links it makes; the key's name if not",
	 "make-key"},
	{"owners", "NAMES", "the only owners it may write for", "make-key"},
	{"rate", "N/s", "requests a second, /m minute or /h hour", "make-key"},
	{"burst", "N", "requests at once; the rate's number if not",
	 "make-key"},
	{0},
};

static const struct {
	const char *name;
	command_fn *run;
} runs[] = {
	{"serve", command_serve},
	{"create-space", command_create_space},
	{"retire-key", command_retire_key},
	{"spaces", command_show_spaces},
	{"make-key", command_make_key},
};

static int run_command(struct app *app, const struct allocator_config *config,
		       struct error *err)
{
	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		if (!strcmp(runs[i].name, app_command_name(app)))
			return runs[i].run(app, config, err);
	}
	return error_set(err, ERROR_USAGE, "no such command");
}

int main(int argc, char **argv)
{
	const struct app_spec spec = {
		.name = "allocator",
		.summary = "creates short links from blocks of codes",
		.commands = commands,
		.default_command = "serve",
		.unconfigured = "make-key",
		.options = options,
		.groups = allocator_groups,
		.group_count = allocator_group_count,
		.validate = allocator_config_validate,
		.check = allocator_check,
		.reloads = "keys_file, url_allow_file, url_deny_file; "
			   "audit_file is opened anew",
	};
	struct allocator_config config = {0};
	struct error err = {0};
	struct app *app;
	int status;

	if (sodium_init() < 0)
		return EX_OSERR;
	status = app_start(&app, &spec, &config, &config.app, argc, argv);
	if (!app)
		return status;
	status = run_command(app, &config, &err);
	return app_finish(app, status < 0 ? &err : NULL);
}
