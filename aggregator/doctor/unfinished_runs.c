#include "aggregator/doctor/report.h"

#include <inttypes.h>
#include <stdio.h>

#include "aggregator/forget/forget_days.h"
#include "aggregator/zone/civil.h"
#include "common/clickhouse/rows.h"
#include "schemas/ingest_progress.h"

/*
 * Runs of `aggregator forget`, `collector rescore` and `collector import
 * --undo` that began for a day and were killed before they ended.  Until the
 * run is ended, the day is not dropped, and its hours are not settled from the
 * changed rows.
 */

struct runs {
	struct doctor *d;
	uint64_t over, going;
};

/* A row is: start of the day, process, whether it is a rescore, whether the run
 * is over, the log of an undo or "". */
static int take_run(void *arg, char **f, struct error *err)
{
	struct runs *runs = arg;
	char day[CIVIL_NAME_MAX], command[256];

	(void)err;
	if (!tsv_u64(f[3])) {
		runs->going++;
		return 0;
	}
	snprintf(command, sizeof(command), "%s%s",
		 *f[4]		 ? "collector import --undo "
		 : tsv_u64(f[2]) ? "collector rescore"
				 : "aggregator forget",
		 f[4]);
	if (runs->over++ < DOCTOR_DAYS_SHOWN)
		doctor_say(
			runs->d, DOCTOR_WRONG, "runs",
			"%s: %s began to change it and did not end; until '%s' "
			"ends that, the day is not dropped",
			civil_day_name(tsv_i64(f[0]), day), f[1], command);
	return 0;
}

/* A mutation of a day's rows may take any time, and the process that sent it
 * waits for it.  So no run counts as over while there is such a mutation. */
static int read_runs(struct runs *runs, struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/unfinished_runs.sql.inc"
		;
	char longest[24];
	const struct clickhouse_param params[] = {{"param_longest", longest},
						  {NULL, NULL}};

	snprintf(longest, sizeof(longest), "%" PRId64,
		 FORGET_DAYS_STATEMENTS_MAX *
			 runs->d->settings->settle_timeout);
	if (clickhouse_rows(runs->d->ch, sql, params, "nsnns", take_run, runs,
			    err) < 0)
		return error_wrap(err, "rescored");
	return 0;
}

int look_at_unfinished_runs(struct doctor *d, struct error *err)
{
	struct runs runs = {.d = d};

	if (read_runs(&runs, err) < 0)
		return -1;
	if (runs.over > DOCTOR_DAYS_SHOWN)
		doctor_say(d, DOCTOR_WRONG, "runs", "and %" PRIu64 " more",
			   runs.over - DOCTOR_DAYS_SHOWN);
	if (!runs.over)
		doctor_say(d, DOCTOR_FINE, "runs",
			   "none was left by who began it, %" PRIu64
			   " under way",
			   runs.going);
	return 0;
}
