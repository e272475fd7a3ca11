#include "reclaimer/commands.h"
#include "reclaimer/options.h"
#include "reclaimer/reclaimer_config.h"

static const struct app_command commands[] = {
	{"run", "return ended blocks to the pool, once over all that is due",
	 NULL, reclaimer_run},
	{"status", "say what each space has issued, may reuse and waits for",
	 NULL, reclaimer_status},
	{"verify",
	 "prove that each block is in exactly one state; 1: it is not so", NULL,
	 reclaimer_verify},
	{"history", "list the runs of the last days and what each day brought",
	 NULL, reclaimer_history},
	{"advise", "say what other block sizes and intervals would bring", NULL,
	 reclaimer_advise},
	{"hold", "take blocks out of circulation; their links go on", NULL,
	 reclaimer_hold},
	{"release", "put blocks back that were taken out", NULL,
	 reclaimer_release},
	{0},
};

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

	return app_main(&spec, &config, &config.app, argc, argv);
}
