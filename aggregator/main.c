#include <string.h>

#include "aggregator/aggregator_config.h"
#include "aggregator/commands.h"
#include "aggregator/watermark.h"
#include "common/app/app.h"

static const struct app_command commands[] = {
	{"serve", "settle clicks, serve the API and the dashboard", NULL},
	{"migrate", "make the tables in ClickHouse, or bring them up to date",
	 NULL},
	{"settle", "settle a range of time again, whatever was published of it",
	 NULL},
	{"watermark",
	 "show up to when counts are promised; 1: beyond what can be", NULL},
	{0},
};

static const struct app_option options[] = {
	{"dry-run", NULL, "print what would be run, and run nothing",
	 "migrate"},
	{"from", "TIME", "a day (UTC) or an RFC 3339 time: the first settled",
	 "settle"},
	{"to", "TIME",
	 "of settle the first not settled any more (now); of --mend: lower it "
	 "to that",
	 "settle watermark"},
	{"allow-fewer", NULL,
	 "publish also what is counted from fewer rows than before", "settle"},
	{"mend", NULL, "lower it to what the collectors' reports promise",
	 "watermark"},
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
	int end;

	if (!app)
		return status;
	if (!strcmp(app_command_name(app), "migrate"))
		status = command_migrate(&config, app, &err);
	else if (!strcmp(app_command_name(app), "settle"))
		status = command_settle(&config, app, &err);
	else if (!strcmp(app_command_name(app), "watermark"))
		status = command_watermark(&config, app, &err);
	else
		status = command_serve(&config, app, &err);
	end = app_finish(app, status < 0 ? &err : NULL);
	return end || status < 0 ? end : status;
}
