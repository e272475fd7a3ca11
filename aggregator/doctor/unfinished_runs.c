#include "aggregator/doctor/unfinished_runs.h"

#include <inttypes.h>
#include <stdio.h>

#include "aggregator/forget/forget_days.h"
#include "common/clickhouse/rows.h"

struct reader {
	int (*fn)(void *arg, const struct unfinished_run *run,
		  struct error *err);
	void *arg;
};

/* A row is: start of the day, process, whether it is rescored, whether the run
 * is over. */
static int take_run(void *arg, char **f, struct error *err)
{
	const struct reader *r = arg;
	const struct unfinished_run run = {
		.day = tsv_i64(f[0]),
		.host = f[1],
		.is_rescore = tsv_u64(f[2]) > 0,
		.is_over = tsv_u64(f[3]) > 0,
	};

	return r->fn(r->arg, &run, err);
}

/* How long the rows of a day take to be changed nobody knows: who changes them
 * waits for the mutation, whatever its age. */
#define SQL_CHANGING                                                           \
	"(SELECT count() FROM system.mutations WHERE database = "              \
	"currentDatabase() AND table = 'clicks' AND NOT is_done AND "          \
	"latest_fail_reason = '' AND (position(command, 'rescore_map_') > 0 "  \
	"OR position(command, 'unique_identity = ') > 0))"

int unfinished_runs_for_each(struct clickhouse *ch,
			     const struct aggregator_settings *settings,
			     int (*fn)(void *arg,
				       const struct unfinished_run *run,
				       struct error *err),
			     void *arg, struct error *err)
{
	static const char sql[] =
		"SELECT toUInt32(toDateTime(any(day), 'UTC')) AS d, "
		"toValidUTF8(any(host)), any(rules) != 0, "
		"max(at) < now64(3, 'UTC') - "
		"toIntervalMillisecond({longest:Int64}) AND " SQL_CHANGING
		" = 0 FROM rescored WHERE state = 'begun' AND run NOT IN "
		"(SELECT run FROM rescored WHERE state = 'done') AND "
		"toDateTime(day, 'UTC') >= (SELECT max(unit) FROM settled "
		"WHERE kind = 'kept_from') GROUP BY run ORDER BY d "
		"FORMAT TabSeparated";
	char longest[24];
	const struct clickhouse_param params[] = {{"param_longest", longest},
						  {NULL, NULL}};
	struct reader reader = {fn, arg};

	snprintf(longest, sizeof(longest), "%" PRId64,
		 FORGET_DAYS_STATEMENTS_MAX * settings->settle_timeout);
	if (clickhouse_rows(ch, sql, params, "nsnn", take_run, &reader, err) <
	    0)
		return error_wrap(err, "rescored");
	return 0;
}
