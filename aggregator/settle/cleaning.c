#include "aggregator/settle/cleaning.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "aggregator/settle/settling.h"
#include "common/clickhouse/tsv.h"

/* Waits for the mutation: what follows relies on it.  The sub-queries read
 * `settled`, which makes them "nondeterministic" in a cluster. */
static const struct clickhouse_param mutation[] = {
	{"mutations_sync", "1"},
	{"allow_nondeterministic_mutations", "1"},
	{NULL, NULL}};

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

/* An attempt is a partition: "20261024-1878000000000000000". */
static bool is_partition(const char *id)
{
	return strspn(id, "0123456789-") == strlen(id) && *id;
}

static int drop_attempts(struct clickhouse *ch, const char *table,
			 uint64_t before, struct error *err)
{
	struct buf answer = {0}, sql = {0};
	struct tsv rows;
	char *id;
	int status = -1;

	buf_printf(&sql,
		   "SELECT DISTINCT partition_id FROM system.parts WHERE "
		   "database = currentDatabase() AND table = '%s' AND active "
		   "AND toUInt64OrZero(splitByChar('-', partition_id)[2]) < "
		   "%" PRIu64 " AND partition_id NOT IN (SELECT "
		   "concat(toString(toYYYYMMDD(unit)), '-', "
		   "toString(max(attempt))) FROM settled WHERE "
		   "kind = 'link_day' GROUP BY unit) FORMAT TabSeparated",
		   table, before);
	if (buf_cstr(&sql))
		status = clickhouse_query(ch, sql.data, NULL, &answer, err);
	else
		error_set_nomem(err);
	buf_reset(&sql);
	rows = tsv_rows(&answer);
	while (status == 0 && tsv_next(&rows, &id, 1)) {
		if (!is_partition(id))
			continue;
		buf_printf(&sql, "ALTER TABLE %s DROP PARTITION ID '%s'", table,
			   id);
		status = settling_run(ch, &sql, NULL, err);
	}
	buf_free(&sql);
	buf_free(&answer);
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
		status = settling_run(ch, &sql, mutation, err);
	}
	if (status == 0)
		status = drop_attempts(ch, "link_slots", before, err);
	if (status == 0)
		status = drop_attempts(ch, "link_days", before, err);
	if (status == 0) {
		buf_printf(&sql,
			   "ALTER TABLE settled DELETE WHERE attempt < %" PRIu64
			   " AND attempt != mended"
			   " AND (kind, unit, attempt) NOT IN (SELECT kind, "
			   "argMax(unit, attempt), max(attempt) FROM settled "
			   "GROUP BY kind, "
			   "if(kind = 'pass', toDateTime(0, 'UTC'), unit))",
			   before);
		status = settling_run(ch, &sql, mutation, err);
	}
	buf_free(&sql);
	buf_free(&answer);
	return status < 0 ? error_wrap(err, "delete what is superseded") : 0;
}
