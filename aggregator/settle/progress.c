#include "aggregator/settle/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/clickhouse/tsv.h"
#include "common/clock.h"

#define NUMBERS_MAX 3

/* A block of an hour can have been told of a little before the hour began, by
 * a clock that was behind. */
#define EARLY_MS (10 * CLOCK_MINUTE)

/* What changes counts without being a topic of Kafka. */
#define IS_STREAM "topic != 'rescore' AND NOT startsWith(topic, 'import:')"

void stale_list_release(struct stale_list *list)
{
	free(list->items);
	*list = (struct stale_list){0};
}

/* Asks for one row of `count` numbers. */
static int read_numbers(struct clickhouse *ch, const char *sql,
			const struct clickhouse_param *params, uint64_t *ret,
			size_t count, struct error *err)
{
	struct buf answer = {0};
	char *fields[NUMBERS_MAX];
	struct tsv rows;
	int status = clickhouse_query(ch, sql, params, &answer, err);

	if (status == 0) {
		rows = tsv_rows(&answer);
		if (!tsv_next(&rows, fields, count))
			status = error_set(err, ERROR_PROTOCOL,
					   "an answer of another shape");
	}
	for (size_t i = 0; status == 0 && i < count; i++)
		ret[i] = tsv_u64(fields[i]);
	buf_free(&answer);
	return status;
}

static int read_stale(struct clickhouse *ch, const char *sql,
		      const struct clickhouse_param *params,
		      struct stale_list *ret, struct error *err)
{
	struct buf answer = {0};
	char *f[3];
	struct tsv rows;
	struct stale *more;
	int status = clickhouse_query(ch, sql, params, &answer, err);

	*ret = (struct stale_list){0};
	rows = tsv_rows(&answer);
	while (status == 0 && tsv_next(&rows, f, 3)) {
		more = realloc(ret->items, (ret->count + 1) * sizeof(*more));
		if (!more) {
			status = error_set_nomem(err);
			break;
		}
		ret->items = more;
		more[ret->count++] = (struct stale){
			tsv_i64(f[0]), tsv_u64(f[1]), tsv_u64(f[2])};
	}
	if (status == 0 && rows.bad)
		status = error_set(err, ERROR_PROTOCOL,
				   "an answer of another shape");
	if (status < 0)
		stale_list_release(ret);
	buf_free(&answer);
	return status;
}

int progress_read_last(struct clickhouse *ch, struct progress *ret,
		       struct error *err)
{
	static const char sql[] =
		"SELECT toUnixTimestamp64Milli(max(read_until)), "
		"toUnixTimestamp64Milli(max(complete_until)), max(attempt) "
		"FROM settled FORMAT TabSeparated";
	uint64_t n[3] = {0};

	if (read_numbers(ch, sql, NULL, n, 3, err) < 0)
		return error_wrap(err, "settled");
	*ret = (struct progress){(int64_t)n[0], (int64_t)n[1], n[2]};
	return 0;
}

int progress_watermark(struct clickhouse *ch, int64_t *ret_ms,
		       struct error *err)
{
	/* A partition that was not heard of for a day is as good as one never
	 * heard of, and need not be looked for in all of the table. */
	static const char sql[] =
		"WITH (SELECT max(inserted_at) FROM ingest_progress "
		"WHERE " IS_STREAM ") AS newest "
		"SELECT if(count() > 0 AND "
		"count() >= sum(parts / told), "
		"min(appended), 0) FROM ("
		"SELECT topic, partition, "
		"toUnixTimestamp64Milli(max(append_time)) AS appended, "
		"max(max(partitions)) OVER (PARTITION BY topic) AS parts, "
		"count() OVER (PARTITION BY topic) AS told "
		"FROM ingest_progress "
		"WHERE inserted_at > newest - INTERVAL 1 DAY AND " IS_STREAM
		" AND (topic, epoch) IN (SELECT topic, max(epoch) "
		"FROM ingest_progress "
		"WHERE inserted_at > newest - INTERVAL 1 DAY GROUP BY topic) "
		"GROUP BY topic, partition) WHERE parts > 0 "
		"FORMAT TabSeparated";
	uint64_t n = 0;

	if (read_numbers(ch, sql, NULL, &n, 1, err) < 0)
		return error_wrap(err, "watermark");
	*ret_ms = (int64_t)n;
	return 0;
}

int progress_read_until(struct clickhouse *ch, int64_t *ret_ms,
			struct error *err)
{
	static const char sql[] =
		"SELECT toUnixTimestamp64Milli(max(inserted_at)) "
		"FROM ingest_progress FORMAT TabSeparated";
	uint64_t n = 0;

	if (read_numbers(ch, sql, NULL, &n, 1, err) < 0)
		return error_wrap(err, "ingest_progress");
	*ret_ms = (int64_t)n;
	return 0;
}

int progress_stale_hours(struct clickhouse *ch, int64_t since_ms,
			 struct stale_list *ret, struct error *err)
{
	/* First the hours that were touched, then all the blocks of these. */
	static const char sql[] =
		"WITH touched AS (SELECT DISTINCT arrayJoin(mapKeys(hours)) AS "
		"h FROM ingest_progress WHERE inserted_at >= "
		"fromUnixTimestamp64Milli({since:Int64}, 'UTC')), "
		"(SELECT min(h) FROM touched) AS first, "
		"told AS (SELECT h, count() AS blocks, sum(n) AS clicks "
		"FROM ingest_progress "
		"ARRAY JOIN mapKeys(hours) AS h, mapValues(hours) AS n "
		"WHERE inserted_at >= fromUnixTimestamp64Milli("
		"greatest(toInt64(first) * 1000 - {early:Int64}, 0), 'UTC') "
		"AND h IN (SELECT h FROM touched) GROUP BY h), "
		"done AS (SELECT toUInt32(unit) AS h, "
		"argMax(blocks, attempt) AS blocks, "
		"argMax(rows, attempt) AS clicks "
		"FROM settled WHERE kind = 'hour' "
		"AND unit >= toDateTime(first, 'UTC') GROUP BY h) "
		"SELECT told.h, told.blocks, told.clicks FROM told LEFT JOIN "
		"done ON told.h = done.h "
		"WHERE told.blocks != done.blocks OR "
		"told.clicks != done.clicks "
		"ORDER BY told.h FORMAT TabSeparated";
	char since[24], early[24];
	const struct clickhouse_param params[] = {
		{"param_since", since}, {"param_early", early}, {NULL, NULL}};

	snprintf(since, sizeof(since), "%" PRId64, since_ms);
	snprintf(early, sizeof(early), "%" PRId64, EARLY_MS);
	if (read_stale(ch, sql, params, ret, err) < 0)
		return error_wrap(err, "stale hours");
	return 0;
}

int progress_stale_days(struct clickhouse *ch, int64_t closed_before_ms,
			int64_t not_since_ms, struct stale_list *ret,
			struct error *err)
{
	static const char sql[] =
		"WITH hourly AS (SELECT unit, argMax(blocks, attempt) AS "
		"blocks, argMax(rows, attempt) AS clicks FROM settled "
		"WHERE kind = 'hour' GROUP BY unit), "
		"told AS (SELECT intDiv(toUInt32(unit), 86400) * 86400 AS d, "
		"sum(blocks) AS blocks, sum(clicks) AS clicks FROM hourly "
		"GROUP BY d), "
		"done AS (SELECT toUInt32(unit) AS d, "
		"argMax(blocks, attempt) AS blocks, "
		"argMax(rows, attempt) AS clicks, "
		"toUnixTimestamp64Milli(max(settled_at)) AS at "
		"FROM settled WHERE kind = 'day' GROUP BY d) "
		"SELECT told.d, told.blocks, told.clicks FROM told LEFT JOIN "
		"done ON told.d = done.d "
		"WHERE (told.blocks != done.blocks OR "
		"told.clicks != done.clicks) "
		"AND (toInt64(told.d) + 86400) * 1000 <= {closed:Int64} "
		"AND done.at <= {since:Int64} "
		"ORDER BY told.d FORMAT TabSeparated";
	char closed[24], since[24];
	const struct clickhouse_param params[] = {
		{"param_closed", closed}, {"param_since", since}, {NULL, NULL}};

	snprintf(closed, sizeof(closed), "%" PRId64, closed_before_ms);
	snprintf(since, sizeof(since), "%" PRId64, not_since_ms);
	if (read_stale(ch, sql, params, ret, err) < 0)
		return error_wrap(err, "stale days");
	return 0;
}
