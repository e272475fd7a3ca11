#include "reclaimer/options.h"
#include "reclaimer/reclaimer_config.h"
#include "reclaimer/run.h"
#include "reclaimer/status.h"

int main(int argc, char **argv)
{
	struct reclaimer_config config = {0};
	struct app_spec spec = {
		.name = "reclaimer",
		.summary = "returns blocks of codes whose links have ended to "
			   "the pool",
		.commands = reclaimer_commands,
		.options = reclaimer_options,
		.groups = reclaimer_groups,
		.group_count = reclaimer_group_count,
		.validate = reclaimer_config_validate,
		.job = true,
	};
	struct options options;
	struct error err = {0};
	struct app *app;
	int done = app_start(&app, &spec, &config, &config.app, argc, argv);

	if (!app)
		return done;
	done = options_read(app, &options, &err);
	if (done == 0 && options.status)
		done = reclaimer_status(&config, &options, &err);
	else if (done == 0)
		done = reclaimer_run(app, &config, &options, &err);
	return app_finish(app, done < 0 ? &err : NULL);
}
