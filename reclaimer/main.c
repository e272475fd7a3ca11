#include <string.h>

#include "reclaimer/advise/advise_command.h"
#include "reclaimer/hand/hand_command.h"
#include "reclaimer/options.h"
#include "reclaimer/reclaimer_config.h"
#include "reclaimer/run.h"
#include "reclaimer/runs/history_command.h"
#include "reclaimer/status.h"
#include "reclaimer/verify/verify_command.h"

/* 0 done, 1 done, but not all is well; -1 and *err. */
typedef int command_fn(struct app *app, const struct reclaimer_config *config,
		       const struct options *options, struct error *err);

static const struct {
	const char *name;
	command_fn *fn;
} commands[] = {
	{"run", reclaimer_run},		{"status", reclaimer_status},
	{"verify", reclaimer_verify},	{"history", reclaimer_history},
	{"advise", reclaimer_advise},	{"hold", reclaimer_hold},
	{"release", reclaimer_release},
};

static int carry_out(struct app *app, const struct reclaimer_config *config,
		     struct error *err)
{
	struct options options;

	if (options_read(app, &options, err) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(commands[i].name, app_command_name(app)))
			return commands[i].fn(app, config, &options, err);
	return error_set(err, ERROR_USAGE, "no such command");
}

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
	struct error err = {0};
	struct app *app;
	int done = app_start(&app, &spec, &config, &config.app, argc, argv);
	int status;

	if (!app)
		return done;
	done = carry_out(app, &config, &err);
	status = app_finish(app, done < 0 ? &err : NULL);
	return status || done < 0 ? status : done;
}
