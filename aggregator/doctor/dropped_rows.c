#include "aggregator/doctor/report.h"

#include <inttypes.h>
#include <stdio.h>

#include "aggregator/settle/drop.h"
#include "aggregator/zone/civil.h"
#include "common/clickhouse/rows.h"
#include "common/clock.h"

/*
 * Days that were dropped and still have rows of their base in `clicks` long
 * after these should have been deleted.  Rows that came later do not count,
 * because their day is dropped again.  Rows of a dropped month do not count,
 * because they are deleted with the month, and later.
 */

/* Tolerance after the time at which the rows should be deleted. */
#define PATIENCE CLOCK_HOUR

struct dropped_rows {
	const struct settling *s;
	uint64_t days;
	int64_t first; /* seconds since 1970 */
};

/* A row is: start of the day, number of its drop. */
static int count_day(void *arg, char **f, struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/dropped_rows_left.sql.inc"
		;
	struct dropped_rows *dropped = arg;
	char until[24];
	const struct clickhouse_param params[] = {{"param_start", f[0]},
						  {"param_end", until},
						  {"param_dropped", f[1]},
						  {"join_use_nulls", "0"},
						  {NULL, NULL}};
	uint64_t found = 0;

	snprintf(until, sizeof(until), "%" PRId64, tsv_i64(f[0]) + CIVIL_DAY);
	if (clickhouse_numbers(dropped->s->ch, sql, params, &found, 1, err) < 0)
		return -1;
	if (found && !dropped->days++)
		dropped->first = tsv_i64(f[0]);
	return 0;
}

/* Searches one row for each such day. */
static int find_rows(struct dropped_rows *ret, struct error *err)
{
	const struct settling *s = ret->s;
	int64_t kept = settling_now(s) - s->settings->keep_superseded -
		       s->settings->clean_every - PATIENCE;
	struct settling_old old;
	const struct clickhouse_param params[] = {{"param_before", old.before},
						  {"param_kept", old.kept},
						  {NULL, NULL}};

	snprintf(old.before, sizeof(old.before), "%" PRIu64,
		 settling_attempt_at(kept));
	snprintf(old.kept, sizeof(old.kept), "%" PRId64, kept);
	if (settling_for_each(s->ch, drop_sql_days_with_rows, params, "nn",
			      count_day, ret, err) < 0)
		return error_wrap(err, "rows of dropped days");
	return 0;
}

int look_at_dropped_rows(struct doctor *d, struct error *err)
{
	struct dropped_rows dropped = {.s = &d->settling};
	char first[CIVIL_NAME_MAX];

	if (find_rows(&dropped, err) < 0)
		return -1;
	if (dropped.days)
		doctor_say(d, DOCTOR_BEHIND, "dropped rows",
			   "rows of %" PRIu64
			   " dropped day%s, from %s on, were to be deleted and "
			   "are still there: the aggregator's log says why",
			   dropped.days, doctor_plural(dropped.days),
			   civil_day_name(dropped.first, first));
	else
		doctor_say(d, DOCTOR_FINE, "dropped rows",
			   "none is still there");
	return 0;
}
