#include "aggregator/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/clickhouse/rows.h"
#include "common/clock.h"
#include "schemas/ingest_progress.h"

void stale_list_release(struct stale_list *list)
{
	free(list->items);
	*list = (struct stale_list){0};
}

/* A row is: start, blocks, rows; rows and attempt of the last publication;
 * number of the drop; whether it was provisional. */
static int add_stale(void *arg, char **f, struct error *err)
{
	struct stale_list *list = arg;
	struct stale *more =
		realloc(list->items, (list->count + 1) * sizeof(*more));

	if (!more)
		return error_set_nomem(err);
	list->items = more;
	more[list->count++] = (struct stale){
		.start = tsv_i64(f[0]),
		.blocks = tsv_u64(f[1]),
		.rows = tsv_u64(f[2]),
		.was_rows = tsv_u64(f[3]),
		.was = tsv_u64(f[4]) > 0,
		.was_attempt = tsv_u64(f[4]),
		.dropped = tsv_u64(f[5]),
		.provisional = tsv_u64(f[6]) > 0,
	};
	return 0;
}

static int read_stale(struct clickhouse *ch, const char *sql,
		      const struct clickhouse_param *params,
		      struct stale_list *ret, struct error *err)
{
	*ret = (struct stale_list){0};
	if (clickhouse_rows(ch, sql, params, "nnnnnnn", add_stale, ret, err) ==
	    0)
		return 0;
	stale_list_release(ret);
	return -1;
}

struct progress progress_of_fields(char *const fields[4])
{
	return (struct progress){
		.read_until = tsv_i64(fields[0]),
		.complete_until = tsv_i64(fields[1]),
		.attempt = tsv_u64(fields[2]),
		.mended = tsv_u64(fields[3]),
	};
}

struct marked {
	struct progress progress;
	uint64_t marks;
};

/* A row is: PROGRESS_SQL_COLUMNS, marks. */
static int take_marks(void *arg, char **fields, struct error *err)
{
	struct marked *marked = arg;

	(void)err;
	marked->progress = progress_of_fields(fields);
	marked->marks = tsv_u64(fields[4]);
	return 0;
}

int progress_read_marks(struct clickhouse *ch, struct progress *ret,
			uint64_t *ret_marks, struct error *err)
{
	static const char sql[] =
		"SELECT " PROGRESS_SQL_COLUMNS
		", sum(cityHash64(kind, unit, attempt)) FROM settled "
		"FORMAT TabSeparated";
	struct marked marked = {.marks = 0};
	int64_t asked_at = clock_monotonic_ms();

	if (clickhouse_row(ch, sql, NULL, "nnnnn", take_marks, &marked, err) <
	    0)
		return error_wrap(err, "settled");
	*ret = marked.progress;
	ret->asked_at = asked_at;
	*ret_marks = marked.marks;
	return 0;
}

int progress_read_last(struct clickhouse *ch, struct progress *ret,
		       struct error *err)
{
	uint64_t marks;

	return progress_read_marks(ch, ret, &marks, err);
}

int progress_read_until(struct clickhouse *ch, int64_t *ret_ms,
			struct error *err)
{
	/* Reads the table in its order, from the end. */
	static const char sql[] =
		"SELECT toUnixTimestamp64Milli(max(t)) FROM "
		"(SELECT inserted_at AS t FROM ingest_progress "
		"WHERE inserted_at <= now64(3, 'UTC') "
		"ORDER BY inserted_at DESC LIMIT 1) FORMAT TabSeparated";
	uint64_t n = 0;

	if (clickhouse_numbers(ch, sql, NULL, &n, 1, err) < 0)
		return error_wrap(err, "ingest_progress");
	*ret_ms = (int64_t)n;
	return 0;
}

/* --- hours ------------------------------------------------------------------
 */

#define DAY_OF(hour) "toUInt32(intDiv(" hour ", 86400) * 86400)"
#define JOIN_DROPPED(hour)                                                     \
	"LEFT JOIN dropped AS x ON " DAY_OF(hour) " = x.x_day "

/* Nothing before this time is settled. */
#define KEPT_FROM                                                              \
	"(SELECT toUInt32(max(unit)) FROM settled WHERE kind = 'kept_from') "

/* The days that were dropped, and the last offset of each source in their
 * bases. */
#define DROPPED_DAYS                                                           \
	"dropped AS (SELECT toUInt32(unit) AS x_day, max(attempt) AS "         \
	"x_attempt FROM settled WHERE kind = 'dropped_day' GROUP BY x_day), "
#define FRONTIERS                                                              \
	"frontier AS (SELECT toUInt32(toDateTime(day, 'UTC')) AS f_day, "      \
	"epoch AS f_epoch, topic AS f_topic, partition AS f_partition, "       \
	"max(last) AS f_last, 1 AS f_known FROM dropped_sources "              \
	"WHERE (toUInt32(toDateTime(day, 'UTC')), attempt) IN (SELECT x_day, " \
	"x_attempt FROM dropped) "                                             \
	"GROUP BY f_day, f_epoch, f_topic, f_partition), "

/*
 * The reports about the hours in `touched`, the reports they are published
 * from, and those they are held back at.  A block that was reported twice has
 * the same offsets of the same partition.  `rescore` reports no offsets and no
 * rows.  Blocks of an hour are reported after it has begun, by Kafka's clock
 * and by ClickHouse's, unless that went back: `low` is the earliest time.  A
 * block that lies on both sides of a frontier was read again: it makes the hour
 * stale, and how many of its rows are new is unknown.
 */
/* clang-format off */
#define ABOUT_HOURS                                                            \
	DROPPED_DAYS FRONTIERS                                                 \
	"reported AS (SELECT h, sum(times) AS n_blocks, "                      \
	"sumIf(n_block, f_known = 0 OR first > f_last) AS n_rows "             \
	"FROM (SELECT h, epoch, topic, partition, first, last, "               \
	"count() AS times, max(n) AS n_block FROM ingest_progress "            \
	"ARRAY JOIN mapKeys(hours) AS h, mapValues(hours) AS n "               \
	"WHERE inserted_at >= fromUnixTimestamp64Milli(greatest(least("        \
	"toInt64((SELECT min(h) FROM touched)) * 1000 - "                      \
	"{early:Int64}, {low:Int64}), 0), 'UTC') "                             \
	"AND h IN (SELECT h FROM touched) "                                    \
	"GROUP BY h, epoch, topic, partition, first, last) AS r "              \
	"LEFT JOIN frontier AS f ON " DAY_OF("r.h") " = f.f_day AND "          \
	"r.epoch = f.f_epoch AND r.topic = f.f_topic AND "                     \
	"r.partition = f.f_partition "                                         \
	"WHERE f_known = 0 OR last > f_last GROUP BY h), "                     \
	"published AS (SELECT toUInt32(unit) AS h, "                           \
	"argMax(blocks, attempt) AS p_blocks, "                                \
	"argMax(rows, attempt) AS p_rows, max(attempt) AS n_attempt, "         \
	"toUInt8(argMax(provisional, attempt)) AS n_open "                            \
	"FROM settled WHERE kind = 'hour' AND unit >= "                        \
	"toDateTime((SELECT min(h) FROM touched), 'UTC') GROUP BY h), "        \
	"done AS (SELECT h, "                                                  \
	"if(n_attempt < x_attempt, 0, p_blocks) AS n_blocks, "                 \
	"if(n_attempt < x_attempt, 0, p_rows) AS n_rows, n_attempt, n_open "   \
	"FROM published LEFT JOIN dropped "                                    \
	"ON " DAY_OF("h") " = dropped.x_day), "                                \
	"held AS (SELECT toUInt32(unit) AS h, "                                \
	"argMax(blocks, attempt) AS n_blocks, "                                \
	"argMax(rows, attempt) AS n_rows, max(attempt) AS n_attempt "          \
	"FROM settled WHERE kind = 'held_hour' GROUP BY h) "
/* clang-format on */

struct hours_params {
	struct clickhouse_param items[8];
	char early[24], low[24], closes[24];
};

static void hours_params_fill(struct hours_params *p,
			      const struct clickhouse_param *some, size_t count,
			      int64_t low_ms)
{
	for (size_t i = 0; i < count; i++)
		p->items[i] = some[i];
	snprintf(p->early, sizeof(p->early), "%" PRId64,
		 PROGRESS_EARLY * CLOCK_SECOND);
	p->items[count++] = (struct clickhouse_param){"param_early", p->early};
	snprintf(p->low, sizeof(p->low), "%" PRId64, low_ms);
	p->items[count++] = (struct clickhouse_param){"param_low", p->low};
	snprintf(p->closes, sizeof(p->closes), "%d", PROGRESS_CLOSES);
	p->items[count++] =
		(struct clickhouse_param){"param_closes", p->closes};
	/* A profile in which joins return NULL would make nothing stale. */
	p->items[count++] = (struct clickhouse_param){"join_use_nulls", "0"};
	p->items[count] = (struct clickhouse_param){NULL, NULL};
}

static int read_hours(struct clickhouse *ch, const char *sql,
		      const struct clickhouse_param *some, size_t count,
		      int64_t low_ms, struct stale_list *ret, struct error *err)
{
	struct hours_params params;

	hours_params_fill(&params, some, count, low_ms);
	return read_stale(ch, sql, params.items, ret, err);
}

#define IS_OPEN_AND_OVER                                                       \
	"(done.n_open AND toDateTime(done.h + 3600 + {closes:UInt32}, 'UTC') " \
	"<= now64(3, 'UTC')) "
#define IS_STALE                                                               \
	"reported.h >= " KEPT_FROM                                             \
	"AND (reported.n_blocks != done.n_blocks OR "                          \
	"reported.n_rows != done.n_rows OR " IS_OPEN_AND_OVER ") "

int progress_stale_hours(struct clickhouse *ch, int64_t since_ms,
			 int64_t low_ms, bool held, struct stale_list *ret,
			 struct error *err)
{
	/* clang-format off */
	static const char sql[] =
		"WITH touched AS (SELECT DISTINCT arrayJoin(mapKeys(hours)) "
		"AS h FROM ingest_progress WHERE inserted_at >= "
		"fromUnixTimestamp64Milli({since:Int64}, 'UTC') "
		"UNION DISTINCT SELECT toUInt32(unit) FROM settled "
		"WHERE kind = 'hour' AND unit >= now() - 86400 GROUP BY unit "
		"HAVING argMax(provisional, attempt)), " ABOUT_HOURS
		"SELECT reported.h, reported.n_blocks, reported.n_rows, "
		"done.n_rows, done.n_attempt, x.x_attempt, done.n_open "
		"FROM reported "
		"LEFT JOIN done ON reported.h = done.h "
		"LEFT JOIN held ON reported.h = held.h "
		JOIN_DROPPED("reported.h") "WHERE " IS_STALE
		"AND ({held:UInt8} OR held.n_attempt <= done.n_attempt OR "
		"reported.n_blocks != held.n_blocks OR "
		"reported.n_rows != held.n_rows) "
		"ORDER BY reported.h FORMAT TabSeparated";
	/* clang-format on */
	char since[24];
	const struct clickhouse_param params[] = {
		{"param_since", since}, {"param_held", held ? "1" : "0"}};

	snprintf(since, sizeof(since), "%" PRId64, since_ms);
	if (read_hours(ch, sql, params, 2, low_ms, ret, err) < 0)
		return error_wrap(err, "stale hours");
	return 0;
}

int progress_count_stale(struct clickhouse *ch, int64_t from, int64_t to,
			 uint64_t *ret, struct error *err)
{
	static const char sql[] =
		"WITH touched AS (SELECT DISTINCT h FROM (SELECT "
		"arrayJoin(mapKeys(hours)) AS h FROM ingest_progress) "
		"WHERE h >= {from:UInt32} AND h < {to:UInt32}), " ABOUT_HOURS
		"SELECT count() FROM reported LEFT JOIN done ON "
		"reported.h = done.h WHERE " IS_STALE "FORMAT TabSeparated";
	char first[24], end[24];
	const struct clickhouse_param some[] = {{"param_from", first},
						{"param_to", end}};
	struct hours_params params;

	snprintf(first, sizeof(first), "%" PRId64, from);
	snprintf(end, sizeof(end), "%" PRId64, to);
	hours_params_fill(&params, some, 2, 0);
	if (clickhouse_numbers(ch, sql, params.items, ret, 1, err) < 0)
		return error_wrap(err, "stale hours");
	return 0;
}

int progress_hours_of(struct clickhouse *ch, int64_t from, int64_t to,
		      struct stale_list *ret, struct error *err)
{
	/* clang-format off */
	static const char sql[] =
		"WITH touched AS (SELECT DISTINCT h FROM ("
		"SELECT arrayJoin(mapKeys(hours)) AS h FROM ingest_progress "
		"UNION ALL SELECT toUInt32(unit) AS h FROM settled "
		"WHERE kind = 'hour' UNION ALL SELECT DISTINCT "
		"toUInt32(intDiv(toUnixTimestamp(ts), 3600) * 3600) AS h "
		"FROM clicks WHERE ts >= toDateTime64({from:UInt32}, 3, 'UTC') "
		"AND ts < toDateTime64({to:UInt32}, 3, 'UTC')) "
		"WHERE h >= {from:UInt32} AND h < {to:UInt32}), " ABOUT_HOURS
		"SELECT t.h, reported.n_blocks, reported.n_rows, done.n_rows, "
		"done.n_attempt, x.x_attempt, done.n_open FROM touched AS t "
		"LEFT JOIN reported ON t.h = reported.h "
		"LEFT JOIN done ON t.h = done.h "
		JOIN_DROPPED("t.h") "WHERE t.h >= " KEPT_FROM
		"ORDER BY t.h FORMAT TabSeparated";
	/* clang-format on */
	char low[24], high[24];
	const struct clickhouse_param params[] = {{"param_from", low},
						  {"param_to", high}};

	snprintf(low, sizeof(low), "%" PRId64, from);
	snprintf(high, sizeof(high), "%" PRId64, to);
	if (read_hours(ch, sql, params, 2, 0, ret, err) < 0)
		return error_wrap(err, "hours");
	return 0;
}

/* --- days -------------------------------------------------------------------
 */

/* A dropped day counts only what was settled since the drop. */
/* clang-format off */
#define ABOUT_DAYS                                                             \
	"WITH " DROPPED_DAYS                                                   \
	"hourly AS (SELECT toUInt32(unit) AS h, "                              \
	"argMax(blocks, attempt) AS h_blocks, "                                \
	"argMax(rows, attempt) AS h_rows, max(attempt) AS h_attempt "          \
	"FROM settled WHERE kind = 'hour' GROUP BY h), "                       \
	"reported AS (SELECT " DAY_OF("h") " AS d, "                           \
	"max(h_attempt) AS d_attempt, "                                        \
	"sumIf(h_blocks, h_attempt >= x_attempt) AS d_blocks, "                \
	"sumIf(h_rows, h_attempt >= x_attempt) AS d_rows FROM hourly "         \
	"LEFT JOIN dropped ON " DAY_OF("h") " = dropped.x_day GROUP BY d), "   \
	"published AS (SELECT toUInt32(unit) AS d, "                           \
	"argMax(blocks, attempt) AS p_blocks, "                                \
	"argMax(rows, attempt) AS p_rows, max(attempt) AS n_attempt, "         \
	"toUnixTimestamp64Milli(max(settled_at)) AS n_at "                     \
	"FROM settled WHERE kind = 'link_day' GROUP BY d), "                   \
	"done AS (SELECT d, "                                                  \
	"if(n_attempt < x_attempt, 0, p_blocks) AS n_blocks, "                 \
	"if(n_attempt < x_attempt, 0, p_rows) AS n_rows, n_attempt, n_at "     \
	"FROM published LEFT JOIN dropped ON published.d = dropped.x_day), "   \
	"held AS (SELECT toUInt32(unit) AS d, "                                \
	"argMax(blocks, attempt) AS n_blocks, "                                \
	"argMax(rows, attempt) AS n_rows, max(attempt) AS n_attempt "          \
	"FROM settled WHERE kind = 'held_day' GROUP BY d) "                    \
	"SELECT reported.d, reported.d_blocks, reported.d_rows, "              \
	"done.n_rows, done.n_attempt, x.x_attempt, 0 FROM reported "           \
	"LEFT JOIN done ON reported.d = done.d "                               \
	"LEFT JOIN held ON reported.d = held.d "                               \
	"LEFT JOIN dropped AS x ON reported.d = x.x_day WHERE "
/* clang-format on */

int progress_stale_days(struct clickhouse *ch, int64_t closed_before_ms,
			int64_t not_since_ms, bool held, struct stale_list *ret,
			struct error *err)
{
	static const char sql[] = ABOUT_DAYS
		"(reported.d_blocks != done.n_blocks OR "
		"reported.d_rows != done.n_rows OR "
		"reported.d_attempt > done.n_attempt) "
		"AND (toInt64(reported.d) + 86400) * 1000 <= {closed:Int64} "
		/* A time in the future comes from a clock that was ahead. */
		"AND (done.n_at <= {since:Int64} OR done.n_at > "
		"toUnixTimestamp64Milli(now64(3, 'UTC'))) AND ({held:UInt8} OR "
		"held.n_attempt <= done.n_attempt OR reported.d_blocks != "
		"held.n_blocks OR reported.d_rows != held.n_rows) "
		"ORDER BY reported.d FORMAT TabSeparated";
	char closed[24], since[24];
	const struct clickhouse_param params[] = {
		{"param_closed", closed},
		{"param_since", since},
		{"param_held", held ? "1" : "0"},
		{"join_use_nulls", "0"},
		{NULL, NULL}};

	snprintf(closed, sizeof(closed), "%" PRId64, closed_before_ms);
	snprintf(since, sizeof(since), "%" PRId64, not_since_ms);
	if (read_stale(ch, sql, params, ret, err) < 0)
		return error_wrap(err, "stale days");
	return 0;
}

int progress_days_of(struct clickhouse *ch, int64_t from, int64_t to,
		     struct stale_list *ret, struct error *err)
{
	static const char sql[] = ABOUT_DAYS
		"reported.d + 86400 > {from:Int64} AND reported.d < {to:Int64} "
		"ORDER BY reported.d FORMAT TabSeparated";
	char low[24], high[24];
	const struct clickhouse_param params[] = {{"param_from", low},
						  {"param_to", high},
						  {"join_use_nulls", "0"},
						  {NULL, NULL}};

	snprintf(low, sizeof(low), "%" PRId64, from);
	snprintf(high, sizeof(high), "%" PRId64, to);
	if (read_stale(ch, sql, params, ret, err) < 0)
		return error_wrap(err, "days");
	return 0;
}

/* Rows of `settled` that hold an hour or day back.  An hour or day that was
 * published later, or from the same blocks, is not held back any more. */
#define IS_HELD "kind IN ('held_hour', 'held_day')"

int progress_held_back(struct clickhouse *ch, struct held_back *ret,
		       struct error *err)
{
	static const char sql[] =
		"SELECT countIf(hourly), countIf(NOT hourly), "
		"toUnixTimestamp(min(u)) FROM (SELECT unit AS u, "
		"kind IN ('hour', 'held_hour') AS hourly, "
		"argMaxIf((blocks, rows), attempt, " IS_HELD ") AS held_at, "
		"maxIf(attempt, " IS_HELD ") AS held_by, "
		"argMaxIf((blocks, rows), attempt, NOT " IS_HELD
		") AS done_at, "
		"maxIf(attempt, NOT " IS_HELD ") AS done_by FROM settled "
		"WHERE kind IN ('hour', 'held_hour', 'link_day', 'held_day') "
		"GROUP BY unit, hourly) WHERE held_by > done_by AND "
		"held_at != done_at FORMAT TabSeparated";
	uint64_t n[3] = {0};

	if (clickhouse_numbers(ch, sql, NULL, n, 3, err) < 0)
		return error_wrap(err, "held back");
	*ret = (struct held_back){n[0], n[1], (int64_t)n[2]};
	return 0;
}
