#include "aggregator/doctor/not_counted.h"

#include "common/clickhouse/rows.h"
#include "schemas/ingest_progress.h"

struct reader {
	int (*fn)(void *arg, const struct short_day *day, struct error *err);
	void *arg;
};

/* A row is: start, rows that were reported, those that are missing. */
static int take_day(void *arg, char **f, struct error *err)
{
	const struct reader *r = arg;
	const struct short_day day = {tsv_i64(f[0]), tsv_u64(f[1]),
				      tsv_u64(f[2])};

	return r->fn(r->arg, &day, err);
}

int not_counted_short_days(struct clickhouse *ch,
			   int (*fn)(void *arg, const struct short_day *day,
				     struct error *err),
			   void *arg, struct error *err)
{
	/* What is lost of stats_hourly is no matter of rows. */
	static const char sql[] =
		"SELECT toUInt32(toStartOfDay(h)) AS d, sum(n_reported), "
		"sum(n_reported - n_counted) FROM (SELECT unit AS h, "
		"argMax(rows, attempt) AS n_reported, max(attempt) AS newest, "
		"argMax(settler, attempt) AS settled_by FROM settled "
		"WHERE kind = 'hour' AND unit >= (SELECT max(unit) FROM "
		"settled WHERE kind = 'kept_from') AND toStartOfDay(unit) "
		"NOT IN (SELECT unit FROM settled WHERE kind = 'dropped_day') "
		"GROUP BY h HAVING NOT endsWith(settled_by, ':settle')) AS p "
		"INNER JOIN (SELECT hour AS e_hour, attempt AS e_attempt, "
		"sum(events) AS n_counted FROM stats_hourly WHERE "
		"dimension = 'total' GROUP BY e_hour, e_attempt) AS e "
		"ON p.h = e.e_hour AND p.newest = e.e_attempt "
		"WHERE n_reported > n_counted GROUP BY d ORDER BY d "
		"FORMAT TabSeparated";
	struct reader reader = {fn, arg};

	if (clickhouse_rows(ch, sql, NULL, "nnn", take_day, &reader, err) < 0)
		return error_wrap(err, "rows that were not settled");
	return 0;
}

int not_counted_read(struct clickhouse *ch, struct not_counted *ret,
		     struct error *err)
{
	/* A block that was reported twice is the same offsets. */
	static const char sql[] =
		"SELECT sum(n_dead), sum(n_lost) FROM "
		"(SELECT max(dead_lettered) AS n_dead, max(lost) AS n_lost "
		"FROM ingest_progress WHERE inserted_at >= now64(3, 'UTC') - "
		"toIntervalDay(1) AND dead_lettered + lost > 0 "
		"AND " PROGRESS_IS_STREAM
		" GROUP BY epoch, topic, partition, first, last) "
		"FORMAT TabSeparated";
	uint64_t n[2] = {0};

	if (clickhouse_numbers(ch, sql, NULL, n, 2, err) < 0)
		return error_wrap(err, "dead letters");
	*ret = (struct not_counted){n[0], n[1]};
	return 0;
}
