#include "aggregator/doctor/dropped_rows.h"

#include <inttypes.h>
#include <stdio.h>

#include "aggregator/settle/dropped.h"
#include "aggregator/zone/civil.h"
#include "common/clickhouse/rows.h"
#include "common/clock.h"

/* Beyond the next time at which they are to be deleted. */
#define PATIENCE CLOCK_HOUR

struct search {
	const struct settling *s;
	struct dropped_rows *ret;
};

/* A row is: start of the day, number of its drop. */
static int look_at_day(void *arg, char **f, struct error *err)
{
	static const char sql[] =
		"SELECT count() FROM (SELECT 1 FROM " SQL_WITHIN(
			"dropped") " LIMIT 1) FORMAT TabSeparated";
	const struct search *search = arg;
	char until[24];
	const struct clickhouse_param params[] = {{"param_start", f[0]},
						  {"param_end", until},
						  {"param_dropped", f[1]},
						  {"join_use_nulls", "0"},
						  {NULL, NULL}};
	uint64_t found = 0;

	snprintf(until, sizeof(until), "%" PRId64, tsv_i64(f[0]) + CIVIL_DAY);
	if (clickhouse_numbers(search->s->ch, sql, params, &found, 1, err) < 0)
		return -1;
	if (found && !search->ret->days++)
		search->ret->first = tsv_i64(f[0]);
	return 0;
}

int dropped_rows_find(const struct settling *s, struct dropped_rows *ret,
		      struct error *err)
{
	/* Partitions of clicks are days. */
	static const char sql[] =
		"SELECT toUInt32(unit), max(attempt) AS newest FROM settled "
		"WHERE kind = 'dropped_day' AND toYYYYMMDD(unit) IN "
		"(SELECT toUInt32OrZero(partition_id) FROM system.parts WHERE "
		"database = currentDatabase() AND table = 'clicks' AND active "
		"AND rows > 0) GROUP BY unit "
		"HAVING " SQL_LONG_AGO(
			"newest",
			"max(settled_at)") " ORDER BY unit FORMAT TabSeparated";
	int64_t kept = settling_now(s) - s->settings->keep_superseded -
		       s->settings->clean_every - PATIENCE;
	struct search search = {s, ret};
	struct settling_old old;
	const struct clickhouse_param params[] = {{"param_before", old.before},
						  {"param_kept", old.kept},
						  {NULL, NULL}};

	*ret = (struct dropped_rows){0};
	snprintf(old.before, sizeof(old.before), "%" PRIu64,
		 settling_attempt_at(kept));
	snprintf(old.kept, sizeof(old.kept), "%" PRId64, kept);
	if (settling_for_each(s->ch, sql, params, "nn", look_at_day, &search,
			      err) < 0)
		return error_wrap(err, "rows of dropped days");
	return 0;
}
