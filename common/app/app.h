/*
 * app.h - the parts that all five programs share: command line, configuration,
 * log, metrics, health, admin listener and signals.
 *
 * main fills an app_spec and returns app_main.  A daemon's `run` is
 *
 *	... build the program from `config` ...
 *	app_wait(app, on_reload, arg);	(returns at SIGTERM or SIGINT)
 *	... drain ...
 */
#ifndef COMMON_APP_APP_H
#define COMMON_APP_APP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/app/health.h"
#include "common/config/config.h"
#include "common/error.h"
#include "common/http/http_server.h"
#include "common/log.h"
#include "common/metrics/metrics.h"

struct app;

/* A long option of one program, in addition to the common ones. */
struct app_option {
	const char *name; /* "dry-run"; NULL ends a table */
	/* "N", or NULL for a flag; "[DURATION]" is optional, and is given as
	 * --wait=DURATION. */
	const char *argument;
	const char *help;
	/* The commands that accept it, separated by a space; any other command
	 * refuses it.  NULL: the program checks that itself. */
	const char *commands;
};

/* Returns 0; 1: done with problems, which is the exit status then; -1 with err
 * filled. */
typedef int app_run_fn(struct app *app, const void *config, struct error *err);

/* A subcommand; a program without a table runs as a daemon. */
struct app_command {
	const char *name; /* "run"; NULL ends a table */
	const char *help;
	/* The operands after it, for --help: "FILE ...", "list | replay"; NULL:
	 * there are none. */
	const char *operands;
	app_run_fn *run;
};

struct app_spec {
	const char *name;    /* "reclaimer" */
	const char *summary; /* one line for --help and the manual */
	const struct app_command *commands; /* or NULL: */
	app_run_fn *run;		    /* the only command */
	const char *default_command; /* used if none is given; NULL: required */
	const char *unconfigured;    /* a command that reads no file; or NULL */
	const struct app_option *options; /* or NULL */
	const struct setting_group *groups;
	size_t group_count;
	/* Fills settings that are not in the file and depend on where the
	 * program runs; may be NULL.  Called before validate. */
	int (*complete)(void *config, struct error *err);
	/* Checks that need more than one setting; may be NULL.  Fills err with
	 * ERROR_CONFIG. */
	int (*validate)(const void *config, struct error *err);
	/* For --check, after validate: reads the data files that a start reads,
	 * so that --check reports what a start would fail at.  May be NULL. */
	int (*check)(const void *config, struct error *err);
	/* For --check with a command, after that: checks whether the command
	 * may have work to do.  Reports it on standard output and returns -1
	 * with err filled.  May be NULL. */
	int (*check_command)(const char *command, const void *config,
			     struct error *err);
	/* A job rather than a daemon: if its admin port is taken (two runs at
	 * once), it logs that and continues without. */
	bool job;
};

/*
 * The section that every program has.  Put an `app_config` in the config struct
 * and a group for it in the table.
 */
struct app_config {
	char *format; /* logfmt | json */
	char *level;  /* debug | info | warn | error */
};
extern const struct setting_section app_log_section;

/*
 * Runs the whole program: parses the command line and the file, starts log,
 * signals and registry, runs the command, logs why it failed if it did, and
 * releases everything.  `config` is the program's zeroed struct, `app_config`
 * lies inside it.  Returns the exit status.  Call it before any thread is
 * created.
 */
int app_main(const struct app_spec *spec, void *config,
	     const struct app_config *app_config, int argc, char **argv);

/*
 * Starts the admin listener (/healthz, /readyz, /metrics) on "host:port" in a
 * thread of its own.  Call after the dependencies are registered.  NULL or ""
 * for the address: no admin listener.
 */
int app_serve_admin(struct app *app, const char *address,
		    const struct http_config *http, struct error *err);

/* The same on a listening socket, which it takes over, also on failure; -1: no
 * admin listener. */
int app_serve_admin_at(struct app *app, int fd, const struct http_config *http,
		       struct error *err);

/* Leaves that socket to another process that has it, within `timeout_ms`; does
 * not wait for that. */
void app_leave_admin(struct app *app, int64_t timeout_ms);

struct log *app_log(struct app *app);
struct metrics *app_metrics(struct app *app);
struct health *app_health(struct app *app);

/* Returns the operands after the subcommand: *ret_count strings, possibly none;
 * they live as long as argv. */
char *const *app_operands(const struct app *app, size_t *ret_count);
/* Returns the value of an option, "" for one given without a value, or NULL. */
const char *app_option_value(const struct app *app, const char *name);

/* Reads the option's value as ms since 1970: a day (UTC) or an RFC 3339 time,
 * not before 1970.  Leaves *ret_ms unchanged if the option was not given. */
int app_option_time(const struct app *app, const char *name, int64_t *ret_ms,
		    struct error *err);

/*
 * Waits for SIGTERM, SIGINT or SIGUSR2; calls on_reload (may be NULL) on
 * SIGHUP.  Call it once all listeners accept: it notifies a service manager
 * ($NOTIFY_SOCKET) that the program is ready, and of reloads and the stop.
 * "Ready" differs from /readyz: it does not wait for servers that are down.
 */
void app_wait(struct app *app, void (*on_reload)(void *arg), void *arg);

/* Returns true if the signal was SIGUSR2: our units make systemd use that for a
 * program that it restarts at once (RestartKillSignal=). */
bool app_is_restarted(const struct app *app);

/* Returns true once one of these signals has arrived; waits up to timeout_ms
 * for it.  For jobs that poll. */
bool app_should_stop(struct app *app, int timeout_ms);

/* Waits until `fd` is readable (its end included); returns false if the program
 * has to stop.  For filters. */
bool app_wait_input(struct app *app, int fd);

#endif
