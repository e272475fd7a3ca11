/*
 * rescore.c - `collector rescore`: today's rules applied to past days.
 *
 * A day at a time.  ClickHouse lists the distinct user agents with the headers
 * that were kept, the collector's own code judges them, and one mutation writes
 * what differs: verdict, reason, version and the device class that follows from
 * them.  Rows that are the same are not touched.  Bursts are counted by
 * ClickHouse over the whole day and all partitions.  When the mutation is done,
 * the hours whose counts change are told to the aggregator.
 *
 * It can be stopped anywhere and run again: table `rescored` knows what was
 * begun.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/commands.h"
#include "collector/exactly_once/stored.h"
#include "collector/tools/rescore/day.h"
#include "common/clickhouse/rows.h"
#include "common/clock.h"

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
	/* Up to an instant is without it; up to a day is with it. */
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

/* It becomes part of names within texts within a mutation. */
static int check_database(const char *name, struct error *err)
{
	for (const char *c = name; *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '_')
			return error_set(err, ERROR_CONFIG,
					 "clickhouse.database: rescore needs a "
					 "name of letters, digits and _");
	return 0;
}

/* --- what is said ------------------------------------------------------ */

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

static void print_day(const struct job *job, const struct day_result *r)
{
	const char *would_be = job->dry_run ? "would be " : "";

	printf("%.4s-%.2s-%s: %" PRIu64 " verdicts %s", job->partition,
	       job->partition + 4, job->partition + 6, r->changes,
	       job->dry_run ? "would change" : "changed");
	print_changes(r);
	if (r->labels)
		printf(", %" PRIu64 " rows %srelabelled", r->labels, would_be);
	if (r->hours)
		printf(", %zu hours %s settled again", r->hours,
		       job->dry_run ? "would be" : "will be");
	if (r->resumed)
		printf(", a run that was stopped %sfinished", would_be);
	printf("\n");
	fflush(stdout);
}

/* --- the run ----------------------------------------------------------- */

static int run_days(struct job *job, int64_t from, int64_t to,
		    struct error *err)
{
	struct day_result result;
	uint64_t changes = 0, days = 0;
	int64_t now;

	if (clickhouse_ping(job->ch, err) < 0)
		return error_wrap(err, "ClickHouse");
	/* This host's clock would leave out the newest days if it were slow. */
	if (clickhouse_now(job->ch, &now, err) < 0)
		return -1;
	if (to > now / CLOCK_DAY)
		to = now / CLOCK_DAY;
	if (!job->dry_run && day_drop_left_over(job, err) < 0)
		return -1;
	for (int64_t day = from; day <= to; day++) {
		if (job_is_stopped(job, 0, err))
			return -1;
		if (day_rescore(job, day, &result, err) < 0)
			return error_wrap(err, "%s", job->partition);
		if (!result.agents && !result.resumed)
			continue;
		print_day(job, &result);
		changes += result.changes;
		days++;
	}
	printf("rules %" PRIu32 ": %" PRIu64 " days with clicks, %" PRIu64
	       " verdicts %s\n",
	       job->lookups->ref.rules, days, changes,
	       job->dry_run ? "would change" : "changed");
	fflush(stdout);
	/* Told to stop when all was done: that is no failure. */
	(void)app_should_stop(job->app, 0);
	return 0;
}

static void release(struct job *job)
{
	clickhouse_free(job->ch);
	enrich_lookups_free(job->lookups);
	buf_free(&job->runs);
	free(job);
}

int collector_rescore(struct app *app, const struct collector_config *config,
		      struct error *err)
{
	struct clickhouse_config patient = config->clickhouse;
	struct job *job = calloc(1, sizeof(*job));
	int64_t from = 0, to = 0;
	int status = -1;

	if (!job)
		return error_set_nomem(err);
	job->app = app;
	job->config = config;
	job->settings = &config->collector;
	job->dry_run = app_option_value(app, "dry-run") != NULL;
	if (gethostname(job->host, sizeof(job->host) - 1) < 0)
		strcpy(job->host, "collector");
	patient.query_timeout = QUERY_TIMEOUT;
	if (read_days(app, &from, &to, err) < 0 ||
	    check_database(config->clickhouse.database, err) < 0)
		goto out;
	job->lookups = enrich_lookups_new(job->settings, err);
	if (!job->lookups)
		goto out;
	job->ch = clickhouse_new(&patient, err);
	if (job->ch)
		status = run_days(job, from, to, err);
out:
	release(job);
	return status;
}
