#include "collector/commands.h"

#include <string.h>

#include "collector/explain/explain.h"
#include "collector/serve.h"
#include "collector/verify/verify_command.h"

const struct app_command collector_commands[] = {
	{"serve", "turn events into rows until told to stop", NULL},
	{"explain", "say what would be made of visits: NDJSON in, NDJSON out",
	 NULL},
	{"verify", "prove that every event was counted once; 1: it was not so",
	 NULL},
	{0},
};

const struct app_option collector_options[] = {
	{"why", NULL, "say which rule decided each value", "explain"},
	{"from", "TIME",
	 "a day (UTC) or an RFC 3339 time; 24 hours back if not", "verify"},
	{"to", "TIME", "up to that, without it; now if not", "verify"},
	{"topic", "NAME", "clicks if not, or links", "verify"},
	{"json", NULL, "write one JSON object to stdout, rather than text",
	 "verify"},
	{0},
};

typedef int command_fn(struct app *app, const struct collector_config *config,
		       struct error *err);

static const struct {
	const char *name;
	command_fn *fn;
} functions[] = {
	{"serve", collector_serve},
	{"explain", collector_explain},
	{"verify", collector_verify},
};

int command_run(struct app *app, const struct collector_config *config,
		struct error *err)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (!strcmp(functions[i].name, app_command_name(app)))
			return functions[i].fn(app, config, err);
	return error_set(err, ERROR_USAGE, "no such command");
}
