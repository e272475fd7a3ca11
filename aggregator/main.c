#include "aggregator/aggregator_config.h"
#include "aggregator/api/api.h"
#include "aggregator/api/api_keys.h"
#include "aggregator/commands.h"
#include "aggregator/life/reclaimed_blocks.h"
#include "aggregator/migrate/migrate.h"
#include "aggregator/settle/hour_settler.h"

static void on_reload(void *arg)
{
	api_reload(arg);
}

static int start_parts(const struct aggregator_config *config, struct app *app,
		       struct hour_settler *settler,
		       struct reclaimed_blocks *reclaimed, struct api *api,
		       struct error *err)
{
	if (app_serve_admin(app, config->aggregator.admin, &config->http, err) <
		    0 ||
	    hour_settler_start(settler, err) < 0 || api_start(api, err) < 0)
		return -1;
	return reclaimed ? reclaimed_blocks_start(reclaimed, err) : 0;
}

/* Settles and serves until the process is stopped. */
static int settle_and_serve(struct app *app, const void *arg, struct error *err)
{
	const struct aggregator_config *config = arg;
	bool has_spaces = config->links.spaces.count > 0;
	struct hour_settler *settler;
	struct reclaimed_blocks *reclaimed = NULL;
	struct api *api = NULL;
	int status = -1;

	settler = hour_settler_new(config, app_log(app), app_metrics(app),
				   app_health(app), err);
	if (settler && has_spaces)
		reclaimed = reclaimed_blocks_new(config, app_log(app),
						 app_metrics(app),
						 app_health(app), err);
	if (settler && (reclaimed || !has_spaces))
		api = api_new(config, app_log(app), app_metrics(app),
			      app_health(app), err);
	if (api)
		status = start_parts(config, app, settler, reclaimed, api, err);
	if (status == 0)
		app_wait(app, on_reload, api);
	api_free(api);
	reclaimed_blocks_free(reclaimed);
	hour_settler_free(settler);
	return status;
}

static const struct app_command commands[] = {
	{"serve", "settle clicks, serve the API and the dashboard", NULL,
	 settle_and_serve},
	{"migrate",
	 "make the tables in ClickHouse, or bring them up to date; --check: "
	 "name what is not applied, 66: something is not",
	 NULL, aggregator_migrate},
	{"settle", "settle a range of time again, whatever was published of it",
	 NULL, aggregator_settle},
	{"watermark",
	 "show up to when counts are promised; 1: beyond what can be", NULL,
	 aggregator_watermark},
	{"retention", "drop clicks of days that are older than raw_days", NULL,
	 aggregator_retention},
	{"forget",
	 "take a visitor, or a link, out of clicks, the archive and counts",
	 NULL, aggregator_forget},
	{"doctor",
	 "show what is behind, unsealed or in disagreement; 1: something is",
	 NULL, aggregator_doctor},
	{0},
};

static const struct app_option options[] = {
	{"dry-run", NULL, "print what would be run, and run nothing",
	 "migrate retention forget"},
	{"from", "TIME", "a day (UTC) or an RFC 3339 time: the first settled",
	 "settle"},
	{"to", "WHAT",
	 "of settle, a time: the first not settled any more (now); of --mend, "
	 "a "
	 "time: lower it to that; of migrate, a number or a name: the last "
	 "applied (the newest)",
	 "settle watermark migrate"},
	{"allow-fewer", NULL,
	 "publish also what is counted from fewer rows than before", "settle"},
	{"mend", NULL, "lower it to what the collectors' reports promise",
	 "watermark"},
	{"visitor", "HEX", "hex(unique_identity) of the visitor's clicks",
	 "forget"},
	{"link", "CODE", "the link that has this code, or had it last",
	 "forget"},
	{"link-id", "N", "the link of this number", "forget"},
	{"list", NULL, "print what is to be forgotten, a line each", "forget"},
	{"file", "FILE", "forget also what --list printed elsewhere", "forget"},
	{"no-wait", NULL,
	 "do not wait for collectors that are behind, and look a second time",
	 "forget"},
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
		.check = api_keys_check,
		.check_command = migrate_check_command,
	};
	struct aggregator_config config = {0};

	return app_main(&spec, &config, &config.app, argc, argv);
}
