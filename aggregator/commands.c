#include "aggregator/commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "aggregator/api/api.h"
#include "aggregator/migrate/migrate.h"
#include "aggregator/settle/resettle.h"
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

/* --- settle ----------------------------------------------------------------
 */

static bool is_told_to_stop(void *arg)
{
	return app_should_stop(arg, 0);
}

static int needs_no_lease(void *arg, struct error *err)
{
	(void)arg;
	(void)err;
	return 0;
}

static void print_shortage(void *arg, const struct shortage *s)
{
	time_t at = (time_t)s->start;
	char start[32];
	struct tm tm;

	(void)arg;
	gmtime_r(&at, &tm);
	strftime(start, sizeof(start), s->day ? "%Y-%m-%d" : "%Y-%m-%dT%HZ",
		 &tm);
	printf("%s %s: %" PRIu64 " rows, %" PRIu64 " were published, "
	       "collectors told of %" PRIu64 "%s\n",
	       s->day ? "day" : "hour", start, s->rows, s->before, s->told,
	       s->held ? ": held back" : "");
}

static int read_range(struct app *app, int64_t *ret_from, int64_t *ret_to,
		      struct error *err)
{
	*ret_to = INT64_MAX;
	if (!app_option_value(app, "from"))
		return error_set(err, ERROR_USAGE,
				 "settle needs --from, such as 2026-11-01");
	if (app_option_time(app, "from", ret_from, err) < 0 ||
	    app_option_time(app, "to", ret_to, err) < 0)
		return -1;
	if (*ret_from >= *ret_to)
		return error_set(err, ERROR_USAGE,
				 "--from and --to: the range is empty");
	return 0;
}

/* What has come by now: the server says when that is. */
static int end_range(const struct settling *s, int64_t from, int64_t *to,
		     struct error *err)
{
	int64_t now = settling_now(s);

	if (*to > now)
		*to = now;
	if (from < *to)
		return 0;
	return error_set(err, ERROR_USAGE, "--from lies in the future");
}

static int say_settled(const struct resettle_result *r, struct error *err)
{
	printf("settled %zu hours and %zu days\n", r->hours, r->days);
	fflush(stdout);
	if (!r->held)
		return 0;
	return error_set(err, ERROR_UNSAFE,
			 "%zu hours and days are held back, because rows of "
			 "them are gone; --allow-fewer publishes them",
			 r->held);
}

int command_settle(const struct aggregator_config *config, struct app *app,
		   struct error *err)
{
	struct clickhouse_config patient = config->clickhouse;
	struct settling settling = {
		.settings = &config->own.settle,
		.allow_fewer = app_option_value(app, "allow-fewer") != NULL,
		.is_stopping = is_told_to_stop,
		.check_lease = needs_no_lease,
		.on_shortage = print_shortage,
		.arg = app,
	};
	struct resettle_result result = {0};
	int64_t from = 0, to = 0;
	char host[64] = "", name[96];
	int status = -1;

	if (read_range(app, &from, &to, err) < 0)
		return -1;
	gethostname(host, sizeof(host) - 1);
	snprintf(name, sizeof(name), "%s:%d:settle", host, (int)getpid());
	settling.settler = name;
	patient.query_timeout = config->own.settle.settle_timeout;
	settling.ch = clickhouse_new(&patient, err);
	if (settling.ch && migrate_check(settling.ch, err) == 0 &&
	    server_clock_read(settling.ch, &settling.clock, err) == 0) {
		status = end_range(&settling, from, &to, err);
		if (status == 0)
			status = resettle_run(&settling, from / 1000,
					      (to + 999) / 1000, &result, err);
	}
	clickhouse_free(settling.ch);
	return status < 0 ? error_wrap(err, "settle")
			  : say_settled(&result, err);
}
