#include "aggregator/commands.h"

#include <stdio.h>

#include "aggregator/api/api.h"
#include "aggregator/migrate/migrate.h"
#include "aggregator/settle/settler.h"
#include "common/clock.h"

#define WAIT_DEFAULT CLOCK_MINUTE
#define RETRY_MIN    100  /* ms */
#define RETRY_MAX    5000 /* ms */

int command_serve(const struct aggregator_config *config, struct app *app,
		  struct error *err)
{
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

struct migration_report {
	struct log *log;
	bool dry_run;
};

static void on_migration(void *arg, const char *name, const char *statement)
{
	struct migration_report *r = arg;

	if (r->dry_run)
		printf("-- %s\n%s;\n\n", name, statement);
	else if (!statement)
		log_info(r->log, "applied", log_str("migration", name));
}

static int read_wait(struct app *app, int64_t *ret_ms, struct error *err)
{
	const char *text = app_option_value(app, "wait");

	*ret_ms = WAIT_DEFAULT;
	if (text && duration_parse(text, ret_ms, err) < 0) {
		error_wrap(err, "--wait");
		err->code = ERROR_USAGE;
		return -1;
	}
	return 0;
}

int command_migrate(const struct aggregator_config *config, struct app *app,
		    struct error *err)
{
	struct migration_report report = {
		app_log(app), app_option_value(app, "dry-run") != NULL};
	int64_t start = clock_monotonic_ms(), wait, pause = RETRY_MIN;

	if (read_wait(app, &wait, err) < 0)
		return -1;
	for (;;) {
		if (migrate_run(&config->clickhouse, report.dry_run,
				on_migration, &report, err) == 0)
			return 0;
		if (!err->retriable || clock_monotonic_ms() - start > wait)
			return error_wrap(err, "migrate");
		log_warn(report.log, "trying again", log_err(err),
			 log_int("after_ms", pause));
		if (app_should_stop(app, (int)pause))
			return error_wrap(err, "stopped");
		pause = pause * 2 < RETRY_MAX ? pause * 2 : RETRY_MAX;
		*err = (struct error){0};
	}
}
