#include <string.h>

#include "aggregator/aggregator_config.h"
#include "aggregator/commands.h"
#include "common/app/app.h"

static const struct app_command commands[] = {
	{"serve", "settle clicks, serve the API and the dashboard", NULL},
	{"migrate", "make the tables in ClickHouse, or bring them up to date",
	 NULL},
	{0},
};

static const struct app_option options[] = {
	{"dry-run", NULL, "print what would be run, and run nothing",
	 "migrate"},
	{"wait", "TIME", "how long to wait for ClickHouse (1m)", "migrate"},
	{0},
};

int main(int argc, char **argv)
{
	const struct app_spec spec = {
		.name = "aggregator",
		.summary = "settles clicks into statistics and serves them",
		.commands = commands,
		.default_command = "serve",
		.options = options,
		.groups = aggregator_groups,
		.group_count = aggregator_group_count,
		.validate = aggregator_config_validate,
	};
	struct aggregator_config config = {0};
	struct error err = {0};
	struct app *app;
	int status = app_start(&app, &spec, &config, &config.app, argc, argv);

	if (!app)
		return status;
	if (!strcmp(app_command_name(app), "migrate"))
		status = command_migrate(&config, app, &err);
	else
		status = command_serve(&config, app, &err);
	return app_finish(app, status < 0 ? &err : NULL);
}
