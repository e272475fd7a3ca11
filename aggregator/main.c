#include <string.h>

#include "aggregator/aggregator_config.h"
#include "aggregator/api/api.h"
#include "aggregator/commands.h"
#include "aggregator/settle/settler.h"

/* Settles and serves until told to stop. */
static int serve(struct app *app, const void *arg, struct error *err)
{
	const struct aggregator_config *config = arg;
	struct settler *settler;
	struct api *api = NULL;
	int status = -1;

	settler = settler_new(config, app_log(app), app_metrics(app),
			      app_health(app), err);
	if (settler)
		api = api_new(config, app_log(app), app_metrics(app), err);
	if (!api ||
	    app_serve_admin(app, config->own.admin, &config->http, err) < 0 ||
	    settler_start(settler, err) < 0 || api_start(api, err) < 0)
		goto out;
	app_wait(app, NULL, NULL);
	status = 0;
out:
	api_free(api);
	settler_free(settler);
	return status;
}

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

/* In the order of the table above. */
static aggregator_command *const run[] = {
	serve,
	aggregator_migrate,
	aggregator_settle,
	aggregator_watermark,
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

static int run_command(struct app *app, const struct aggregator_config *config,
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
	int done = app_start(&app, &spec, &config, &config.app, argc, argv);
	int status;

	if (!app)
		return done;
	done = run_command(app, &config, &err);
	status = app_finish(app, done < 0 ? &err : NULL);
	return status || done < 0 ? status : done;
}
