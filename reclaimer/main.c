#include <string.h>

#include "reclaimer/commands.h"
#include "reclaimer/options.h"
#include "reclaimer/reclaimer_config.h"

static const struct app_command commands[] = {
	{"run", "return ended blocks to the pool, once over all that is due",
	 NULL},
	{"status", "say what each space has issued, may reuse and waits for",
	 NULL},
	{"verify",
	 "prove that each block is in exactly one state; 1: it is not so",
	 NULL},
	{"history", "list the runs of the last days and what each day brought",
	 NULL},
	{"advise", "say what other block sizes and intervals would bring",
	 NULL},
	{"hold", "take blocks out of circulation; their links go on", NULL},
	{"release", "put blocks back that were taken out", NULL},
	{0},
};

/* In the order of the table above. */
static reclaimer_command *const run[] = {
	reclaimer_run,	   reclaimer_status, reclaimer_verify,
	reclaimer_history, reclaimer_advise, reclaimer_hold,
	reclaimer_release,
};

static int run_command(struct app *app, const struct reclaimer_config *config,
		       struct error *err)
{
	size_t i = 0;

	/* app_start lets no other name through. */
	while (strcmp(commands[i].name, app_command_name(app)) != 0)
		i++;
	return run[i](app, config, err);
}

int main(int argc, char **argv)
{
	const struct app_spec spec = {
		.name = "reclaimer",
		.summary = "returns blocks of codes whose links have ended to "
			   "the pool",
		.commands = commands,
		.options = reclaimer_options,
		.groups = reclaimer_groups,
		.group_count = reclaimer_group_count,
		.validate = reclaimer_config_validate,
		.job = true,
	};
	struct reclaimer_config config = {0};
	struct error err = {0};
	struct app *app;
	int done = app_start(&app, &spec, &config, &config.app, argc, argv);
	int status;

	if (!app)
		return done;
	done = run_command(app, &config, &err);
	status = app_finish(app, done < 0 ? &err : NULL);
	return status || done < 0 ? status : done;
}
