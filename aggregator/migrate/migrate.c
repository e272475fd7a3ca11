#include "aggregator/migrate/migrate.h"

#include <openssl/evp.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/aggregator_config.h"
#include "aggregator/commands.h"
#include "aggregator/migrate/migrations.h"
#include "aggregator/migrate/statement.h"
#include "common/clickhouse/rows.h"
#include "common/clock.h"

/* Called for each statement before it runs, and with `statement` NULL after the
 * migration is recorded. */
typedef void report_fn(void *arg, const char *name, const char *statement);

#define UNKNOWN_TABLE	 60 /* ClickHouse's exception codes */
#define UNKNOWN_DATABASE 81
#define CHECKSUM_LEN	 64

/* Which of `migrations` are recorded in the database. */
struct applied_migrations {
	bool *applied;
	/* Fails for files that this build does not have. */
	bool refuses_unknown;
};

static void compute_checksum(const char *text, char ret_hex[CHECKSUM_LEN + 1])
{
	unsigned char digest[EVP_MAX_MD_SIZE] = {0};

	EVP_Digest(text, strlen(text), digest, NULL, EVP_sha256(), NULL);
	sodium_bin2hex(ret_hex, CHECKSUM_LEN + 1, digest, CHECKSUM_LEN / 2);
}

static int set_other_build(const char *name, const char *what,
			   struct error *err)
{
	return error_set(err, ERROR_CONFIG,
			 "clickhouse.database was made by another build: %s "
			 "%s; name a new one, or drop it",
			 name, what);
}

static int mark_applied(void *arg, char **fields, struct error *err)
{
	struct applied_migrations *state = arg;
	const char *name = fields[0], *recorded = fields[1];
	char now[CHECKSUM_LEN + 1];

	for (size_t i = 0; i < migration_count; i++) {
		if (strcmp(migrations[i].name, name) != 0)
			continue;
		compute_checksum(migrations[i].sql, now);
		if (strcmp(now, recorded) != 0)
			return set_other_build(name, "has another text there",
					       err);
		state->applied[i] = true;
		return 0;
	}
	return state->refuses_unknown
		       ? set_other_build(name, "is not of this one", err)
		       : 0;
}

static int read_state(struct clickhouse *ch, struct applied_migrations *state,
		      struct error *err)
{
	static const char sql[] =
		"SELECT DISTINCT name, checksum FROM schema_migrations "
		"FORMAT TabSeparated";

	if (clickhouse_rows(ch, sql, NULL, "ss", mark_applied, state, err) == 0)
		return 0;
	if (clickhouse_last_code(ch) == UNKNOWN_TABLE ||
	    clickhouse_last_code(ch) == UNKNOWN_DATABASE)
		return 0; /* nothing has been applied yet */
	return err->code == ERROR_PROTOCOL
		       ? error_wrap(err, "schema_migrations")
		       : -1;
}

static int load_state(struct clickhouse *ch, struct applied_migrations *state,
		      struct error *err)
{
	state->applied = calloc(migration_count, sizeof(*state->applied));
	if (!state->applied)
		return error_set_nomem(err);
	return read_state(ch, state, err);
}

static int create_database(const struct clickhouse_config *config,
			   struct error *err)
{
	struct clickhouse_config elsewhere = *config;
	struct clickhouse_param params[] = {{"param_name", config->database},
					    {NULL, NULL}};
	char standard[] = "default";
	struct clickhouse *ch;
	int status;

	elsewhere.database = standard; /* a database that always exists */
	ch = clickhouse_new(&elsewhere, err);
	if (!ch)
		return -1;
	status = clickhouse_query(
		ch, "CREATE DATABASE IF NOT EXISTS {name:Identifier}", params,
		NULL, err);
	clickhouse_free(ch);
	return status;
}

static int record_migration(struct clickhouse *ch, const struct migration *m,
			    struct error *err)
{
	char sum[CHECKSUM_LEN + 1] = "", now[32];
	struct clickhouse_param params[] = {
		{"param_name", m->name},
		{"param_checksum", sum},
		{"param_now", now},
		{"param_program", "aggregator " VERSION},
		{NULL, NULL}};

	compute_checksum(m->sql, sum);
	snprintf(now, sizeof(now), "%lld", (long long)clock_real_ms());
	return clickhouse_query(
		ch,
		"INSERT INTO schema_migrations SELECT {name:String}, "
		"{checksum:String}, fromUnixTimestamp64Milli({now:Int64}, "
		"'UTC'), {program:String}",
		params, NULL, err);
}

struct migrate_run {
	struct clickhouse *ch;
	struct applied_migrations state;
	bool dry_run;
	report_fn *report;
	void *arg;
};

static int apply_migration(const struct migrate_run *r,
			   const struct migration *m, struct error *err)
{
	const char *rest = m->sql;
	struct buf statement = {0};
	int status = 0;

	while (status == 0 && statement_next(&rest, &statement)) {
		const char *text = buf_cstr(&statement);

		if (!text) {
			status = error_set_nomem(err);
			break;
		}
		r->report(r->arg, m->name, text);
		if (!r->dry_run)
			status = clickhouse_query(r->ch, text, NULL, NULL, err);
		buf_reset(&statement);
	}
	buf_free(&statement);
	if (status == 0 && !r->dry_run) {
		status = record_migration(r->ch, m, err);
		if (status == 0)
			r->report(r->arg, m->name, NULL);
	}
	return status < 0 ? error_wrap(err, "%s", m->name) : 0;
}

/*
 * Another `migrate` may run at the same time, and be ahead.  Migrations that it
 * has recorded are skipped.  If ClickHouse refuses our statement because it
 * would undo a column change of one of the other's later migrations, that is no
 * failure.
 */
static int apply_missing(struct migrate_run *r, size_t i, struct error *err)
{
	struct error ignored = {0};

	if (!r->dry_run && read_state(r->ch, &r->state, err) < 0)
		return -1;
	if (r->state.applied[i] || apply_migration(r, &migrations[i], err) == 0)
		return 0;
	if (r->dry_run || read_state(r->ch, &r->state, &ignored) < 0 ||
	    !r->state.applied[i])
		return -1;
	*err = (struct error){0};
	return 0;
}

/*
 * Creates the database if it does not exist and applies what is missing of the
 * first `count` migrations, in order.  With `dry_run` only reports the
 * statements.  If the database is of another build (a file has another text, or
 * this build does not have it), the result is ERROR_CONFIG and nothing is
 * applied.
 */
static int run_migrations(const struct clickhouse_config *config, size_t count,
			  bool dry_run, report_fn *report, void *arg,
			  struct error *err)
{
	struct migrate_run r = {.ch = clickhouse_new(config, err),
				.state.refuses_unknown = true,
				.dry_run = dry_run,
				.report = report,
				.arg = arg};
	int status = -1;

	if (!r.ch)
		return -1;
	if (load_state(r.ch, &r.state, err) < 0)
		goto out;
	if (!dry_run && create_database(config, err) < 0)
		goto out;
	status = 0;
	for (size_t i = 0; status == 0 && i < count; i++)
		status = apply_missing(&r, i, err);
out:
	free(r.state.applied);
	clickhouse_free(r.ch);
	return status;
}

/* The command (`print`) must know every file.  An aggregator that serves may be
 * older than the one that migrated. */
static int check_migrations(struct clickhouse *ch, bool print,
			    struct error *err)
{
	struct applied_migrations state = {.refuses_unknown = print};
	size_t missing = 0;
	int status = load_state(ch, &state, err);

	for (size_t i = 0; status == 0 && i < migration_count; i++) {
		missing += !state.applied[i];
		if (print && !state.applied[i])
			printf("%s is not applied\n", migrations[i].name);
	}
	free(state.applied);
	if (status == 0 && missing)
		status = error_set_retriable(
			err, ERROR_NOTFOUND,
			"%zu of %zu migrations are not applied: run "
			"'aggregator migrate'",
			missing, migration_count);
	return status;
}

int migrate_check(struct clickhouse *ch, struct error *err)
{
	return check_migrations(ch, false, err);
}

int migrate_check_command(const char *command, const void *config,
			  struct error *err)
{
	const struct aggregator_config *c = config;
	struct clickhouse *ch;
	int status;

	if (strcmp(command, "migrate") != 0)
		return 0;
	ch = clickhouse_new(&c->clickhouse, err);
	if (!ch)
		return -1;
	status = check_migrations(ch, true, err);
	clickhouse_free(ch);
	return status;
}

/* --- the command -----------------------------------------------------------
 */

#define WAIT_DEFAULT CLOCK_MINUTE
#define RETRY_MIN    100  /* ms */
#define RETRY_MAX    5000 /* ms */

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

/* Returns the number of migrations up to the one that --to names, with or
 * without ".sql". */
static int read_to(struct app *app, size_t *ret_count, struct error *err)
{
	const char *to = app_option_value(app, "to");
	size_t len = to ? strlen(to) : 0;

	*ret_count = migration_count;
	if (!to)
		return 0;
	for (size_t i = 0; i < migration_count; i++) {
		const char *name = migrations[i].name;

		*ret_count = i + 1;
		if (!strcmp(name, to) || (len && !strncmp(name, to, len) &&
					  !strcmp(name + len, ".sql")))
			return 0;
	}
	return error_set(err, ERROR_USAGE,
			 "--to: there is no migration '%s'; the last is %s", to,
			 migrations[migration_count - 1].name);
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

int aggregator_migrate(struct app *app, const void *arg, struct error *err)
{
	const struct aggregator_config *config = arg;
	struct migration_report report = {
		app_log(app), app_option_value(app, "dry-run") != NULL};
	int64_t start = clock_monotonic_ms(), wait, pause = RETRY_MIN;
	size_t count;

	if (read_wait(app, &wait, err) < 0 || read_to(app, &count, err) < 0)
		return -1;
	for (;;) {
		if (run_migrations(&config->clickhouse, count, report.dry_run,
				   on_migration, &report, err) == 0)
			return 0;
		if (!err->retriable || clock_monotonic_ms() - start > wait)
			return error_wrap(err, "migrate");
		log_warn(report.log, "retrying", log_err(err),
			 log_int("after_ms", pause));
		if (app_should_stop(app, (int)pause))
			return error_wrap(err, "stopped");
		pause = pause * 2 < RETRY_MAX ? pause * 2 : RETRY_MAX;
		*err = (struct error){0};
	}
}
