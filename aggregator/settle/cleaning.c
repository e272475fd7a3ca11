#include "aggregator/settle/cleaning.h"

#include <inttypes.h>

#include "aggregator/settle/hours.h"
#include "common/clickhouse/tsv.h"

/* Waits for the mutation: what follows relies on it.  The sub-queries read
 * `settled`, which makes them "nondeterministic" in a cluster. */
static const struct clickhouse_param mutation[] = {
	{"mutations_sync", "1"},
	{"allow_nondeterministic_mutations", "1"},
	{NULL, NULL}};

static int mutate(struct clickhouse *ch, struct buf *sql, struct error *err)
{
	const char *text = buf_cstr(sql);
	int status = text ? clickhouse_query(ch, text, mutation, NULL, err)
			  : error_set_nomem(err);

	buf_reset(sql);
	return status;
}

/* The days that have superseded hours, as partitions of stats_hourly. */
static int list_days(struct clickhouse *ch, uint64_t before, struct buf *answer,
		     struct error *err)
{
	struct buf sql = {0};
	int status;

	buf_printf(&sql,
		   "SELECT DISTINCT toYYYYMMDD(unit) FROM (SELECT unit FROM "
		   "settled WHERE kind = 'hour' GROUP BY unit HAVING count() > "
		   "1 AND min(attempt) < %" PRIu64 ") FORMAT TabSeparated",
		   before);
	status = buf_cstr(&sql)
			 ? clickhouse_query(ch, sql.data, NULL, answer, err)
			 : error_set_nomem(err);
	buf_free(&sql);
	return status;
}

int cleaning_run(struct clickhouse *ch, int64_t before_ms, struct error *err)
{
	uint64_t before = attempt_at(before_ms);
	struct buf answer = {0}, sql = {0};
	struct tsv rows;
	char *day;
	int status = list_days(ch, before, &answer, err);

	rows = tsv_rows(&answer);
	while (status == 0 && tsv_next(&rows, &day, 1)) {
		buf_printf(&sql,
			   "ALTER TABLE stats_hourly DELETE IN PARTITION ID "
			   "'%" PRIu64 "' WHERE attempt < %" PRIu64
			   " AND (hour, attempt) NOT IN (SELECT unit, "
			   "max(attempt) FROM settled WHERE kind = 'hour' "
			   "GROUP BY unit)",
			   tsv_u64(day), before);
		status = mutate(ch, &sql, err);
	}
	if (status == 0) {
		buf_printf(&sql,
			   "ALTER TABLE settled DELETE WHERE attempt < %" PRIu64
			   " AND (kind, unit, attempt) NOT IN (SELECT kind, "
			   "argMax(unit, attempt), max(attempt) FROM settled "
			   "GROUP BY kind, "
			   "if(kind = 'pass', toDateTime(0, 'UTC'), unit))",
			   before);
		status = mutate(ch, &sql, err);
	}
	buf_free(&sql);
	buf_free(&answer);
	return status < 0 ? error_wrap(err, "delete what is superseded") : 0;
}
