/*
 * rescore_command.c - `collector rescore`: applies today's rules to past days.
 *
 * It works day by day.  ClickHouse lists the distinct user agents with the
 * stored headers, the collector's own code classifies them, and one mutation
 * writes the differences: verdict, reason, version and the device class that
 * follows from them.  Rows without a difference are not changed.  ClickHouse
 * counts bursts over the whole day and all partitions.  When the mutation is
 * done, the hours whose counts change are reported to the aggregator.
 *
 * With --account, and --owner in it, only clicks of their links change, with
 * the same result as without them: bursts are counted over all links in both
 * cases.
 *
 * It can be stopped at any point and run again: the table `rescored` has the
 * runs that were begun.
 */
#include <ctype.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "collector/commands.h"
#include "collector/exactly_once/stored.h"
#include "collector/tools/dropped_days.h"
#include "collector/tools/rescore/classify.h"
#include "collector/tools/rescore/mutation.h"
#include "collector/tools/rescore/rescore.h"
#include "collector/tools/rescore/rescore_runs.h"
#include "collector/tools/rescore/rescore_sql.h"
#include "common/clock.h"
#include "common/host_name.h"

/* --- one UTC day ---------------------------------------------------------- */

struct day_result {
	uint64_t agents;  /* distinct */
	uint64_t changes; /* rows whose verdict changes */
	/* Rows that change only in reason, version or class. */
	uint64_t labels;
	uint64_t from_to[VERDICT_KIND_COUNT][VERDICT_KIND_COUNT];
	struct {
		uint64_t taken, changes; /* number of rows */
		/* The operator's rules; before the run. */
	} of_rule[VERDICT_RULES_MAX];
	/* Number of hours to be settled again. */
	size_t hours;
	bool resumed; /* an earlier run had not finished */
	bool wider;   /* an earlier run over more links is unfinished */
};

static const char *const tables[] = {"agents", "map", "bursts"};
#define TABLE_COUNT (sizeof(tables) / sizeof(*tables))

static void name_run(struct rescore *rs, int64_t day)
{
	time_t at = (time_t)(day * (CLOCK_DAY / CLOCK_SECOND));
	struct tm tm;

	rs->day = day;
	buf_reset(&rs->runs);
	buf_reset(&rs->wider);
	gmtime_r(&at, &tm);
	strftime(rs->partition, sizeof(rs->partition), "%Y%m%d", &tm);
	randombytes_buf(&rs->run, sizeof(rs->run));
	snprintf(rs->name, sizeof(rs->name), "%016" PRIx64, rs->run);
}

static int drop_tables(struct rescore *rs, const char *name, struct error *err)
{
	struct buf sql = {0};
	int status = 0;

	for (size_t i = 0; status == 0 && i < TABLE_COUNT; i++) {
		buf_printf(&sql, "DROP TABLE IF EXISTS rescore_%s_%s",
			   tables[i], name);
		status = rescore_run(rs, &sql, err);
	}
	buf_free(&sql);
	return status;
}

/*
 * An earlier run over the day that did not finish may have sent a mutation
 * without getting the answer, and the mutation may still arrive: it would
 * restore the results of its own rules.  Without its tables it cannot.
 */
static int end_others(struct rescore *rs, struct buf *list, struct error *err)
{
	const char *runs = buf_cstr(list);
	char name[RUN_TEXT], *after;

	if (!runs)
		return error_set_nomem(err);
	for (; *runs; runs = *after ? after + 1 : after) {
		snprintf(name, sizeof(name), "%016" PRIx64,
			 (uint64_t)strtoull(runs, &after, 10));
		if (mutation_wait_for(rs, name, err) < 0 ||
		    drop_tables(rs, name, err) < 0 ||
		    mutation_end(rs, name, err) < 0)
			return error_wrap(err, "a run before");
	}
	return 0;
}

static void take_change(struct day_result *r, uint64_t was, uint64_t now,
			uint64_t rows)
{
	if (was >= VERDICT_KIND_COUNT || now >= VERDICT_KIND_COUNT)
		return;
	r->from_to[was][now] += rows;
	if (was == now)
		r->labels += rows;
	else
		r->changes += rows;
}

struct preview {
	struct day_result *result;
	struct rescore_hours *hours;
};

static int take_preview(void *arg, char **fields, struct error *err)
{
	const struct preview *p = arg;

	(void)err;
	take_change(p->result, tsv_u64(fields[0]), tsv_u64(fields[1]),
		    tsv_u64(fields[2]));
	rescore_hours_read(p->hours, fields[3]);
	return 0;
}

static int preview_changes(struct rescore *rs, struct day_result *r,
			   struct rescore_hours *hours, struct error *err)
{
	struct preview preview = {r, hours};
	struct buf sql = {0};
	int status;

	rescore_sql_preview(rs, &sql);
	status = rescore_rows(rs, &sql, "nnns", take_preview, &preview, err);
	buf_free(&sql);
	return status < 0 ? error_wrap(err, "compare") : 0;
}

/* A row has: rule, matching rows, rows to change. */
static int take_rule(void *arg, char **f, struct error *err)
{
	struct day_result *r = arg;
	uint64_t rule = tsv_u64(f[0]);

	(void)err;
	if (rule && rule <= VERDICT_RULES_MAX) {
		r->of_rule[rule - 1].taken = tsv_u64(f[1]);
		r->of_rule[rule - 1].changes = tsv_u64(f[2]);
	}
	return 0;
}

static int preview_rules(struct rescore *rs, struct day_result *r,
			 struct error *err)
{
	struct buf sql = {0};
	int status;

	if (!r->agents || !rs->lookups->ref.verdict_rules->count)
		return 0;
	rescore_sql_rules(rs, &sql);
	status = rescore_rows(rs, &sql, "nnn", take_rule, r, err);
	buf_free(&sql);
	return status < 0 ? error_wrap(err, "rules") : 0;
}

/* For a dropped day, the settled counts are the only data left. */
static int check_kept(struct rescore *rs, struct error *err)
{
	bool dropped;

	if (dropped_days_has(rs->ch, rs->day, &dropped, err) < 0)
		return -1;
	return dropped ? error_set(err, ERROR_UNSAFE,
				   "an aggregator has dropped the day (setting "
				   "raw_days): its counts stay what they are")
		       : 0;
}

/* An aggregator drops no day for which a run has begun; but its check and this
 * run's record may cross.  Then the run is over: the next has nothing to do. */
static int check_still_kept(struct rescore *rs,
			    const struct rescore_hours *hours,
			    struct error *err)
{
	struct error ignored = {0};

	if (check_kept(rs, err) == 0)
		return 0;
	if (err->code == ERROR_UNSAFE)
		(void)rescore_runs_finish(rs, hours, &ignored);
	return -1;
}

/* The changes are recorded first: if this run ends early, the next one knows
 * which hours to report. */
static int apply_changes(struct rescore *rs, const struct day_result *r,
			 const struct rescore_hours *hours,
			 bool *ret_left_running, struct error *err)
{
	uint64_t rows = r->changes + r->labels;

	if (rows) {
		if (rescore_runs_begin(rs, rows, hours, err) < 0 ||
		    check_still_kept(rs, hours, err) < 0)
			return -1;
		*ret_left_running = true;
		if (mutation_run(rs, err) < 0)
			return -1;
		*ret_left_running = false;
		if (check_still_kept(rs, hours, err) < 0)
			return -1;
	}
	if (rows || r->resumed || r->wider)
		return rescore_runs_finish(rs, hours, err);
	return 0;
}

static int classify_and_apply_day(struct rescore *rs, struct day_result *r,
				  bool *ret_left_running, struct error *err)
{
	struct rescore_hours hours = {.count = 0};

	if (check_kept(rs, err) < 0)
		return -1;
	if (rescore_runs_unfinished(rs, &hours, err) < 0)
		return -1;
	r->resumed = rs->runs.len > 0;
	r->wider = rs->wider.len > 0;
	if (!rs->dry_run && (end_others(rs, &rs->runs, err) < 0 ||
			     end_others(rs, &rs->wider, err) < 0))
		return -1;
	if (classify_day(rs, &r->agents, err) < 0)
		return -1;
	if (r->agents && preview_changes(rs, r, &hours, err) < 0)
		return -1;
	r->hours = hours.count;
	if (rs->dry_run)
		return preview_rules(rs, r, err);
	return apply_changes(rs, r, &hours, ret_left_running, err);
}

/* A mutation that goes on needs the tables; a later run drops them. */
static int rescore_day(struct rescore *rs, int64_t day, struct day_result *ret,
		       struct error *err)
{
	struct error ignored = {0};
	bool left_running = false;
	int status;

	*ret = (struct day_result){0};
	name_run(rs, day);
	status = classify_and_apply_day(rs, ret, &left_running, err);
	if (status < 0 && !left_running)
		drop_tables(rs, rs->name, &ignored);
	if (status == 0)
		status = drop_tables(rs, rs->name, err);
	return status;
}

static bool is_ours(const char *name)
{
	size_t len = strlen(name);

	return len > 16 && !strncmp(name, "rescore_", 8) &&
	       strspn(name + len - 16, "0123456789abcdef") == 16;
}

static int drop_if_ours(void *arg, char **fields, struct error *err)
{
	struct rescore *rs = arg;
	struct buf sql = {0};
	int status;

	if (!is_ours(fields[0]))
		return 0;
	buf_printf(&sql, "DROP TABLE IF EXISTS %s", fields[0]);
	status = rescore_run(rs, &sql, err);
	buf_free(&sql);
	return status;
}

/* Drops tables that a killed run left more than a day ago. */
static int drop_left_over(struct rescore *rs, struct error *err)
{
	struct buf sql = {0};
	int status;

	buf_puts(&sql,
		 "SELECT name FROM system.tables AS t WHERE database = "
		 "currentDatabase() AND startsWith(name, 'rescore_') AND "
		 "metadata_modification_time < now() - INTERVAL 1 DAY AND "
		 "(SELECT countIf(position(command, 'rescore_map_') > 0) FROM "
		 "system.mutations WHERE NOT is_done AND database = "
		 "currentDatabase()) = 0 FORMAT TabSeparated");
	status = rescore_rows(rs, &sql, "s", drop_if_ours, rs, err);
	buf_free(&sql);
	return status;
}

/* --- the command line ----------------------------------------------------- */

/* A statement reads a whole day of clicks. */
#define QUERY_TIMEOUT CLOCK_HOUR

static int read_day(struct app *app, const char *option, int64_t *ret_day,
		    struct error *err)
{
	const char *text = app_option_value(app, option);
	int64_t ms;

	if (!text)
		return 0;
	if (app_option_time(app, option, &ms, err) < 0)
		return -1;
	/* An instant as the end excludes itself; a day as the end is
	 * included. */
	if (!strcmp(option, "to") && strchr(text, 'T'))
		ms--;
	*ret_day = ms / CLOCK_DAY;
	return 0;
}

static int read_days(struct app *app, int64_t *ret_from, int64_t *ret_to,
		     struct error *err)
{
	if (!app_option_value(app, "from"))
		return error_set(err, ERROR_USAGE,
				 "rescore needs --from DAY, such as "
				 "2026-11-01");
	*ret_to = INT64_MAX;
	if (read_day(app, "from", ret_from, err) < 0 ||
	    read_day(app, "to", ret_to, err) < 0)
		return -1;
	if (*ret_to < *ret_from || *ret_from < 0)
		return error_set(err, ERROR_USAGE,
				 "--from and --to: the last day is before the "
				 "first one");
	return 0;
}

static int read_name(struct app *app, const char *option, const char **ret,
		     struct error *err)
{
	*ret = app_option_value(app, option);
	if (*ret && !**ret)
		return error_set(err, ERROR_USAGE, "--%s: needs a name",
				 option);
	return 0;
}

static int read_owner(struct app *app, struct rescore *rs, struct error *err)
{
	if (read_name(app, "account", &rs->account, err) < 0 ||
	    read_name(app, "owner", &rs->owner, err) < 0)
		return -1;
	if (rs->owner && !rs->account)
		return error_set(err, ERROR_USAGE,
				 "--owner: an owner belongs to an account: "
				 "expected --account beside it");
	return 0;
}

/* The name becomes part of names in texts in a mutation, so that it is
 * checked. */
static int check_database(const char *name, struct error *err)
{
	for (const char *c = name; *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '_')
			return error_set(err, ERROR_CONFIG,
					 "clickhouse.database: rescore needs a "
					 "name of letters, digits and _");
	return 0;
}

/* --- output --------------------------------------------------------------- */

static void print_changes(const struct day_result *r)
{
	const char *before = " (";

	for (int was = 0; was < VERDICT_KIND_COUNT; was++)
		for (int now = 0; now < VERDICT_KIND_COUNT; now++) {
			if (was == now || !r->from_to[was][now])
				continue;
			printf("%s%s to %s %" PRIu64, before,
			       verdict_name((enum verdict_kind)was),
			       verdict_name((enum verdict_kind)now),
			       r->from_to[was][now]);
			before = ", ";
		}
	if (r->changes)
		printf(")");
}

static void print_rules(const struct rescore *rs, const struct day_result *r)
{
	const struct verdict_rules *rules = rs->lookups->ref.verdict_rules;

	for (size_t i = 0; i < rules->count; i++)
		if (r->of_rule[i].taken)
			printf("    rule %zu (%s): takes %" PRIu64 " clicks, "
			       "%" PRIu64 " would change\n",
			       i + 1, verdict_rule_reason(&rules->items[i]),
			       r->of_rule[i].taken, r->of_rule[i].changes);
}

static void print_day(const struct rescore *rs, const struct day_result *r)
{
	const char *would_be = rs->dry_run ? "would be " : "";

	printf("%.4s-%.2s-%s: %" PRIu64 " verdicts %s", rs->partition,
	       rs->partition + 4, rs->partition + 6, r->changes,
	       rs->dry_run ? "would change" : "changed");
	print_changes(r);
	if (r->labels)
		printf(", %" PRIu64 " rows %srelabelled", r->labels, would_be);
	if (r->hours)
		printf(", %zu hours %s settled again", r->hours,
		       rs->dry_run ? "would be" : "will be");
	if (r->resumed)
		printf(", a run that was stopped %sfinished", would_be);
	if (r->wider)
		printf(", a run over more links that was stopped is still to "
		       "be finished");
	printf("\n");
	print_rules(rs, r);
	fflush(stdout);
}

/* --- the run ----------------------------------------------------------- */

static int run_days(struct rescore *rs, int64_t from, int64_t to,
		    struct error *err)
{
	struct day_result result;
	uint64_t changes = 0, days = 0;
	char whose[320] = "";
	int64_t now;

	if (clickhouse_ping(rs->ch, err) < 0)
		return error_wrap(err, "ClickHouse");
	/* A slow clock of this host would leave out the newest days. */
	if (clickhouse_now(rs->ch, &now, err) < 0)
		return -1;
	if (to > now / CLOCK_DAY)
		to = now / CLOCK_DAY;
	if (!rs->dry_run && drop_left_over(rs, err) < 0)
		return -1;
	for (int64_t day = from; day <= to; day++) {
		if (rescore_is_stopped(rs, 0, err))
			return -1;
		if (rescore_day(rs, day, &result, err) < 0)
			return error_wrap(err, "%s", rs->partition);
		if (!result.agents && !result.resumed)
			continue;
		print_day(rs, &result);
		changes += result.changes;
		days++;
	}
	if (rs->account)
		snprintf(whose, sizeof(whose), " of links of %s%s%s",
			 rs->account, rs->owner ? "/" : "",
			 rs->owner ? rs->owner : "");
	printf("rules %" PRIu32 ": %" PRIu64 " days with clicks%s, %" PRIu64
	       " verdicts %s\n",
	       rs->lookups->ref.rules, days, whose, changes,
	       rs->dry_run ? "would change" : "changed");
	fflush(stdout);
	/* A stop after all was done is no failure. */
	(void)app_should_stop(rs->app, 0);
	return 0;
}

static void free_rescore(struct rescore *rs)
{
	clickhouse_free(rs->ch);
	enrich_lookups_free(rs->lookups);
	buf_free(&rs->runs);
	buf_free(&rs->wider);
	free(rs);
}

int collector_rescore(struct app *app, const void *arg, struct error *err)
{
	const struct collector_config *config = arg;
	struct clickhouse_config patient = config->clickhouse;
	struct rescore *rs = calloc(1, sizeof(*rs));
	int64_t from = 0, to = 0;
	int status = -1;

	if (!rs)
		return error_set_nomem(err);
	rs->app = app;
	rs->config = config;
	rs->settings = &config->collector;
	rs->dry_run = app_option_value(app, "dry-run") != NULL;
	host_name(rs->host, sizeof(rs->host), "collector");
	patient.query_timeout = QUERY_TIMEOUT;
	if (read_days(app, &from, &to, err) < 0 ||
	    read_owner(app, rs, err) < 0 ||
	    check_database(config->clickhouse.database, err) < 0)
		goto out;
	rs->lookups = enrich_lookups_new(rs->settings, err);
	if (!rs->lookups)
		goto out;
	rs->ch = clickhouse_new(&patient, err);
	if (rs->ch)
		status = run_days(rs, from, to, err);
out:
	free_rescore(rs);
	return status;
}
