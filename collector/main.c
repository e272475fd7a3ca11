#include <stddef.h>

#include "collector/collector_config.h"
#include "collector/commands.h"
#include "common/app/app.h"

int main(int argc, char **argv)
{
	struct collector_config config = {0};
	const struct app_spec spec = {
		.name = "collector",
		.summary = "turns the events of clicks into rows of ClickHouse",
		.commands = collector_commands,
		.default_command = "serve",
		.options = collector_options,
		.groups = collector_groups,
		.group_count = collector_group_count,
		.validate = collector_config_validate,
		.check = collector_check,
		.reloads = "ua_rules, bot_list, bot_patterns, source_list, "
			   "geo_files",
	};
	struct error err = {0};
	struct app *app;
	int done = app_start(&app, &spec, &config, &config.app, argc, argv);
	int status;

	if (!app)
		return done;
	done = collector_run_command(app, &config, &err);
	status = app_finish(app, done < 0 ? &err : NULL);
	return status || done < 0 ? status : done;
}
