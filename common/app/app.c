#include "common/app/app.h"
#include "common/config/config_print.h"

#include <poll.h>
#include <signal.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "common/app/admin.h"
#include "common/app/cli.h"
#include "common/app/notify.h"
#include "common/clock.h"
#include "common/config/config_print.h"
#include "common/signals.h"

struct app {
	const struct app_spec *spec;
	struct config_spec config_spec;
	void *config;
	struct cli cli;
	struct log *log;
	struct metrics *metrics;
	struct health *health;
	struct admin *admin;
	int signal_fd;
	bool stopping, restarted;
};

static const char *const levels[] = {"debug", "info", "warn", "error", NULL};
static const char *const formats[] = {"logfmt", "json", NULL};

#define SETTING_STRUCT struct app_config
static const struct setting log_settings[] = {
	SETTING_ENUM(format, "logfmt", formats, AT_START,
		     "How a line is written to stderr."),
	SETTING_ENUM(level, "info", levels, AT_START,
		     "The least serious lines that are written."),
	{0},
};

const struct setting_section app_log_section = {
	.name = "log",
	.help = "What the programs say to stderr.",
	.settings = log_settings,
};

/* One file configures all programs; each skips the sections that only others
 * read. */
static const char *const all_sections[] = {
	"redirector", "allocator",  "collector", "aggregator", "reclaimer",
	"kafka",      "clickhouse", "redis",	 "links",      "domains",
	"clicks",     "http",	    "robots",	 NULL};

static void say_on_stderr(const struct app_spec *spec, const struct error *err)
{
	fprintf(stderr, "%s: %s\n", spec->name, err->text);
}

static size_t index_of(const char *const *names, const char *name)
{
	size_t i = 0;

	while (names[i] && strcmp(names[i], name) != 0)
		i++;
	return i;
}

/* Handles actions such as --help, which need no configuration.  Returns true if
 * the action was one of them. */
static bool print_only(const struct app *app)
{
	const struct app_spec *spec = app->spec;

	switch (app->cli.action) {
	case CLI_HELP:
		cli_print_help(spec, &app->config_spec, app->cli.command,
			       stdout);
		return true;
	case CLI_VERSION:
		printf("%s (shortloop) %s\n", spec->name, VERSION);
		return true;
	case CLI_PRINT_SAMPLE:
		config_print_sample(&app->config_spec, stdout);
		return true;
	case CLI_PRINT_MAN:
		cli_print_man(spec, &app->config_spec, stdout);
		return true;
	case CLI_RUN:
	case CLI_CHECK:
	case CLI_PRINT_CONFIG:
		break;
	}
	return false;
}

/* Returns true if the command needs no configuration. */
static bool is_unconfigured(const struct app *app)
{
	const char *name = app->spec->unconfigured;

	return app->cli.action == CLI_RUN && name &&
	       !strcmp(app->cli.command, name);
}

static int load_configuration(struct app *app, struct error *err)
{
	if (is_unconfigured(app))
		return 0;
	if (config_load(&app->config_spec, app->cli.config_path, app->config,
			err) < 0)
		return -1;
	if (app->spec->complete && app->spec->complete(app->config, err) < 0)
		return -1;
	if (app->spec->validate && app->spec->validate(app->config, err) < 0)
		return error_wrap(err, "%s", app->cli.config_path);
	return 0;
}

static int open_parts(struct app *app, const struct app_config *config,
		      struct error *err)
{
	const char *said = config->level ? config->level : "info";
	const char *how = config->format ? config->format : "logfmt";
	enum log_level level = (enum log_level)index_of(levels, said);
	enum log_format format = (enum log_format)index_of(formats, how);

	app->log = log_new(app->spec->name, STDERR_FILENO, level, format, err);
	if (!app->log)
		return -1;
	app->metrics = metrics_new();
	app->health = health_new();
	if (!app->metrics || !app->health)
		return error_set_nomem(err);
	return signals_open(&app->signal_fd, err);
}

static void app_free(struct app *app)
{
	if (!app)
		return;
	admin_free(app->admin);
	signals_close(app->signal_fd);
	health_free(app->health);
	metrics_free(app->metrics);
	log_free(app->log);
	config_release(&app->config_spec, app->config);
	free(app);
}

/* Runs the checks of --check that follow the reading of the settings. */
static int check_configuration(struct app *app, struct error *err)
{
	const struct app_spec *spec = app->spec;

	if (spec->check && spec->check(app->config, err) < 0)
		return -1;
	if (!spec->check_command || !app->cli.command)
		return 0;
	return spec->check_command(app->cli.command, app->config, err);
}

/* Carries out the command line.  Returns true if the program has to run. */
static bool process_command_line(struct app *app,
				 const struct app_config *app_config, int argc,
				 char **argv, int *ret_status)
{
	struct error err = {0};

	*ret_status = EX_OK;
	if (cli_parse(&app->cli, app->spec, argc, argv, &err) < 0)
		goto failed;
	if (print_only(app))
		return false;
	if (load_configuration(app, &err) < 0)
		goto failed;
	if (app->cli.action == CLI_CHECK) {
		if (check_configuration(app, &err) < 0)
			goto failed;
		puts("ok");
		return false;
	}
	if (app->cli.action == CLI_PRINT_CONFIG) {
		config_print(&app->config_spec, app->config, stdout);
		return false;
	}
	if (open_parts(app, app_config, &err) < 0)
		goto failed;
	return true;
failed:
	say_on_stderr(app->spec, &err);
	*ret_status = error_exit_status(&err);
	return false;
}

/* Sets *ret_app to NULL if there is nothing left to do; the return value is
 * then the exit status. */
static int app_start(struct app **ret_app, const struct app_spec *spec,
		     void *config, const struct app_config *app_config,
		     int argc, char **argv)
{
	struct app *app = calloc(1, sizeof(*app));
	int status = EX_OSERR;

	*ret_app = NULL;
	if (!app)
		return status;
	app->spec = spec;
	app->config = config;
	app->config_spec = (struct config_spec){spec->groups, spec->group_count,
						all_sections};
	app->signal_fd = -1;
	if (process_command_line(app, app_config, argc, argv, &status)) {
		*ret_app = app;
		return EX_OK;
	}
	app_free(app);
	return status;
}

int app_serve_admin(struct app *app, const char *address,
		    const struct http_config *http, struct error *err)
{
	struct error why = {0};

	if (!address || !*address)
		return 0;
	app->admin = admin_new(address, http, app->metrics, app->health, &why);
	if (app->admin)
		return 0;
	if (app->spec->job) {
		log_warn(app->log, "running without an admin listener",
			 log_err(&why));
		return 0;
	}
	*err = why;
	return error_wrap(err, "admin listener");
}

int app_serve_admin_at(struct app *app, int fd, const struct http_config *http,
		       struct error *err)
{
	if (fd < 0)
		return 0;
	app->admin = admin_new_at(fd, http, app->metrics, app->health, err);
	return app->admin ? 0 : error_wrap(err, "admin listener");
}

void app_leave_admin(struct app *app, int64_t timeout_ms)
{
	if (app->admin)
		admin_leave(app->admin, timeout_ms);
}

struct log *app_log(struct app *app)
{
	return app->log;
}

struct metrics *app_metrics(struct app *app)
{
	return app->metrics;
}

struct health *app_health(struct app *app)
{
	return app->health;
}

char *const *app_operands(const struct app *app, size_t *ret_count)
{
	*ret_count = app->cli.operand_count;
	return app->cli.operands;
}

const char *app_option_value(const struct app *app, const char *name)
{
	const struct app_option *options = app->spec->options;

	for (size_t i = 0; options && options[i].name; i++) {
		if (!strcmp(options[i].name, name))
			return app->cli.values[i];
	}
	return NULL;
}

int app_option_time(const struct app *app, const char *name, int64_t *ret_ms,
		    struct error *err)
{
	const char *text = app_option_value(app, name);
	struct error why;
	int64_t ms;

	if (!text)
		return 0;
	if (rfc3339_parse(text, &ms, &why) < 0 || ms < 0)
		return error_set(err, ERROR_USAGE,
				 "--%s: '%.40s': expected a day (2026-11-21) "
				 "or a time (2026-11-21T12:00:00Z)",
				 name, text);
	*ret_ms = ms;
	return 0;
}

/* Notifies the service manager.  A failure is not fatal here: a manager that
 * gets no notification ends the program itself, as its unit says. */
static void tell_manager(struct app *app, const char *state)
{
	struct error err = {0};
	int told = state ? notify(state, &err) : notify_reloading(&err);

	if (told < 0)
		log_warn(app->log, "service manager not notified",
			 log_err(&err));
}

static void run_reload_handler(struct app *app, void (*on_reload)(void *arg),
			       void *arg)
{
	tell_manager(app, NULL);
	on_reload(arg);
	tell_manager(app, "READY=1");
}

static void note_end(struct app *app, int signal_number)
{
	app->restarted = signal_number == SIGUSR2;
	app->stopping = app->restarted || signal_number == SIGTERM ||
			signal_number == SIGINT;
}

bool app_is_restarted(const struct app *app)
{
	return app->restarted;
}

void app_wait(struct app *app, void (*on_reload)(void *arg), void *arg)
{
	int signal_number;

	tell_manager(app, "READY=1");
	while (!app->stopping) {
		signal_number = signals_wait(app->signal_fd, -1);
		if (signal_number == SIGHUP && on_reload)
			run_reload_handler(app, on_reload, arg);
		note_end(app, signal_number);
	}
	tell_manager(app, "STOPPING=1");
	log_info(app->log, "stopping");
}

bool app_should_stop(struct app *app, int timeout_ms)
{
	int64_t until = clock_monotonic_ms() + timeout_ms;
	int64_t left = timeout_ms;
	int signal_number;

	while (!app->stopping) {
		signal_number = signals_wait(app->signal_fd, (int)left);
		note_end(app, signal_number);
		left = until - clock_monotonic_ms();
		if (left <= 0 && !signal_number)
			break;
		left = left > 0 ? left : 0;
	}
	return app->stopping;
}

bool app_wait_input(struct app *app, int fd)
{
	struct pollfd fds[] = {{.fd = fd, .events = POLLIN},
			       {.fd = app->signal_fd, .events = POLLIN}};

	while (!app_should_stop(app, 0)) {
		/* A plain file is always ready. */
		if (poll(fds, 2, -1) > 0 && fds[0].revents)
			return true;
	}
	return false;
}

/* Returns the exit status. */
static int app_finish(struct app *app, const struct error *failure)
{
	int status = EX_OK;

	if (failure) {
		log_error(app->log, "failed", log_err(failure));
		status = error_exit_status(failure);
	}
	app_free(app);
	return status;
}

static app_run_fn *run_of(const struct app *app)
{
	const struct app_command *command = app->spec->commands;

	if (!command)
		return app->spec->run;
	while (strcmp(command->name, app->cli.command) != 0)
		command++;
	return command->run;
}

int app_main(const struct app_spec *spec, void *config,
	     const struct app_config *app_config, int argc, char **argv)
{
	struct error err = {0};
	struct app *app;
	int status, end;

	if (sodium_init() < 0)
		return EX_OSERR;
	status = app_start(&app, spec, config, app_config, argc, argv);
	if (!app)
		return status;
	status = run_of(app)(app, config, &err);
	end = app_finish(app, status < 0 ? &err : NULL);
	return end || status < 0 ? end : status;
}
