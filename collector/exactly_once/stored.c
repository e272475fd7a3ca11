#include "collector/exactly_once/stored.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clickhouse/rows.h"

#define PARTITION_IS                                                           \
	"epoch = {epoch:UInt32} AND topic = {topic:String} "                   \
	"AND partition = {partition:UInt32} "

enum {
	NUMBERS_MAX = 6
};

/* The parameters of all queries; some queries use fewer. */
struct stored_query {
	struct buf topic;
	char epoch[16], partition[16], from[24], last[24], since[24];
	struct clickhouse_param params[7];
};

static void question_build(struct stored_query *q, const struct stored_key *key,
			   uint64_t from, uint64_t last, int64_t since_ms)
{
	*q = (struct stored_query){0};
	clickhouse_escape(&q->topic, key->topic, strlen(key->topic));
	snprintf(q->epoch, sizeof(q->epoch), "%" PRIu32, key->epoch);
	snprintf(q->partition, sizeof(q->partition), "%" PRId32,
		 key->partition);
	snprintf(q->from, sizeof(q->from), "%" PRIu64, from);
	snprintf(q->last, sizeof(q->last), "%" PRIu64, last);
	snprintf(q->since, sizeof(q->since), "%" PRId64,
		 since_ms > 0 ? since_ms : 0);
	q->params[0] = (struct clickhouse_param){"param_topic", q->topic.data};
	q->params[1] = (struct clickhouse_param){"param_epoch", q->epoch};
	q->params[2] =
		(struct clickhouse_param){"param_partition", q->partition};
	q->params[3] = (struct clickhouse_param){"param_from", q->from};
	q->params[4] = (struct clickhouse_param){"param_since", q->since};
	q->params[5] = (struct clickhouse_param){"param_last", q->last};
	q->params[6] = (struct clickhouse_param){NULL, NULL};
}

static void question_free(struct stored_query *q)
{
	buf_free(&q->topic);
}

struct question_range {
	uint64_t from, last;
	int64_t since_ms;
};
/*
 * The next offset by a row of ingest_progress: one past the last offset
 * reported.  The row of an empty partition has no offsets, and last = first -
 * 1, which is 2^64 - 1 at the start of a log.
 */
#define REPORTED_NEXT "if(rows + dead_lettered + lost > 0, last + 1, first)"

/* Offsets that were read and stored, not passed over or missing. */
#define IS_BATCH "rows + dead_lettered > 0 AND lost = 0"

/* The latest time for which a report is valid. */
#define STORED_BY "least(append_time, inserted_at, now64(3, 'UTC'))"

/* Decisions that begin an epoch of the partition. */
#define BEGINS                                                                 \
	"topic = {topic:String} AND decision IN ('renew', 'resume') AND "      \
	"partition = {partition:UInt32} "

/* Queries one row of `count` numbers. */
static int ask_about(struct clickhouse *ch, const char *sql,
		     const struct stored_key *key,
		     const struct question_range *range, uint64_t *ret,
		     size_t count, struct error *err)
{
	struct stored_query q;
	int status;

	question_build(&q, key, range->from, range->last, range->since_ms);
	status = q.topic.failed ? error_set_nomem(err)
				: clickhouse_numbers(ch, sql, q.params, ret,
						     count, err);
	question_free(&q);
	return status;
}

/* Queries any number of rows. */
static int ask_rows(struct clickhouse *ch, const char *sql,
		    const struct stored_key *key,
		    const struct question_range *range, const char *columns,
		    clickhouse_row_fn *fn, void *arg, struct error *err)
{
	struct stored_query q;
	int status;

	question_build(&q, key, range->from, range->last, range->since_ms);
	status = q.topic.failed ? error_set_nomem(err)
				: clickhouse_rows(ch, sql, q.params, columns,
						  fn, arg, err);
	question_free(&q);
	return status;
}

static int ask_numbers(struct clickhouse *ch, const char *sql,
		       const struct stored_key *key, uint64_t from,
		       uint64_t *ret, size_t count, struct error *err)
{
	const struct question_range range = {.from = from};

	return ask_about(ch, sql, key, &range, ret, count, err);
}

static int sync_table(void *arg, char **fields, struct error *err)
{
	if (clickhouse_query(arg, fields[0], NULL, NULL, err) < 0)
		return error_wrap(err, "%s", fields[0]);
	return 0;
}

int stored_sync(struct clickhouse *ch, const char *table, struct error *err)
{
	/* LIGHTWEIGHT, which waits for no merges, exists since 23.4. */
	static const char sql[] =
		"SELECT 'SYSTEM SYNC REPLICA ' || name || "
		"if(toUInt32OrZero(splitByChar('.', version())[1]) * 100 + "
		"toUInt32OrZero(splitByChar('.', version())[2]) >= 2304, "
		"' LIGHTWEIGHT', '') FROM system.tables "
		"WHERE database = currentDatabase() AND name IN "
		"('ingest_epochs', 'ingest_progress', {table:String}) AND "
		"(engine LIKE 'Replicated%' OR engine LIKE 'Shared%') "
		"ORDER BY name";
	const struct clickhouse_param params[] = {{"param_table", table},
						  {NULL, NULL}};

	return clickhouse_rows(ch, sql, params, "s", sync_table, ch, err);
}

int stored_life(struct clickhouse *ch, const struct stored_key *key,
		struct stored_epoch *ret, struct error *err)
{
	/* If two decisions were made at once, the one that reads more is
	 * right. */
	static const char sql[] =
		"SELECT countIf(decision != 'resume') = 0 AND count() > 0, "
		"min(next), min(gap) FROM ingest_epochs "
		"WHERE epoch = {epoch:UInt32} AND " BEGINS;
	uint64_t n[3] = {0};

	if (ask_numbers(ch, sql, key, 0, n, 3, err) < 0)
		return error_wrap(err, "ingest_epochs");
	*ret = (struct stored_epoch){.number = key->epoch, .resumes = n[0] > 0};
	if (ret->resumes) {
		ret->begin = n[1];
		ret->gap = n[2];
	}
	return 0;
}

int stored_epoch(struct clickhouse *ch, const struct stored_key *key,
		 uint32_t configured, struct stored_epoch *ret,
		 struct error *err)
{
	static const char sql[] = "SELECT max(epoch) FROM ingest_epochs "
				  "WHERE " BEGINS;
	struct stored_key newest = *key;
	uint64_t epoch = 0;

	if (ask_numbers(ch, sql, key, 0, &epoch, 1, err) < 0)
		return error_wrap(err, "ingest_epochs");
	*ret = (struct stored_epoch){.number = configured};
	if (epoch <= configured)
		return 0;
	newest.epoch = (uint32_t)epoch;
	return stored_life(ch, &newest, ret, err);
}

int stored_report(struct clickhouse *ch, const struct stored_key *key,
		  struct stored_report *ret, struct error *err)
{
	/*
	 * The table is in the order of inserted_at, so the newest rows are
	 * found from its end.  Offsets alone show how far the partition was
	 * read; the greatest are in rows of the last day, and in rows with a
	 * time in the future because a clock went back.
	 *
	 * The report with the greatest offset also gives the time of the rows
	 * after it: Kafka's clock set the time of a batch, ClickHouse's that of
	 * an empty one.  No report is valid for a time later than the one at
	 * which it was stored.  An empty one is useless if its time is not
	 * before the time at which it was stored: the clock was set back in
	 * between.
	 */
	static const char sql[] =
		"SELECT n, tupleElement(top, 1), greatest(tupleElement(top, "
		"2), 0), batch_count, tupleElement(newest, 1), "
		"tupleElement(newest, 2) FROM (SELECT count() AS n, "
		"countIf(" IS_BATCH ") AS batch_count, maxIf(tuple(last, "
		"toUnixTimestamp64Milli(append_time)), " IS_BATCH
		") AS newest, "
		"max(tuple(" REPORTED_NEXT
		", multiIf(rows + dead_lettered + lost > 0, "
		"toUnixTimestamp64Milli(" STORED_BY ") - 600000, "
		"append_time < inserted_at, toUnixTimestamp64Milli(" STORED_BY
		") - 3600000, 0))) AS top "
		"FROM ingest_progress WHERE " PARTITION_IS
		"AND inserted_at > (SELECT max(t) - INTERVAL 1 DAY FROM "
		"(SELECT inserted_at AS t FROM ingest_progress "
		"WHERE " PARTITION_IS "AND inserted_at <= now64(3, 'UTC') "
		"ORDER BY inserted_at DESC LIMIT 1)))";
	uint64_t n[6] = {0};

	if (ask_numbers(ch, sql, key, 0, n, 6, err) < 0)
		return error_wrap(err, "ingest_progress");
	*ret = (struct stored_report){0};
	if (!n[0])
		return 0;
	*ret = (struct stored_report){.any = true,
				      .next = n[1],
				      .since_ms = (int64_t)n[2],
				      .batch = n[3] > 0,
				      .batch_last = n[4],
				      .batch_ms = (int64_t)n[5]};
	return 0;
}

int stored_same(struct clickhouse *ch, const struct stored_key *key,
		uint64_t next, bool *ret, struct error *err)
{
	static const char sql[] =
		"SELECT count() FROM ingest_epochs WHERE " PARTITION_IS
		"AND decision = 'same' AND next = {from:UInt64}";
	uint64_t count = 0;

	if (ask_numbers(ch, sql, key, next, &count, 1, err) < 0)
		return error_wrap(err, "ingest_epochs");
	*ret = count > 0;
	return 0;
}

int stored_added(struct clickhouse *ch, const struct stored_key *key, bool *ret,
		 struct error *err)
{
	/* 0: the reporter did not know the number of partitions yet. */
	static const char sql[] =
		"SELECT count() FROM (SELECT 1 FROM ingest_progress "
		"WHERE topic = {topic:String} AND partitions > 0 "
		"AND partitions <= {partition:UInt32} LIMIT 1)";
	uint64_t count = 0;

	if (ask_numbers(ch, sql, key, 0, &count, 1, err) < 0)
		return error_wrap(err, "ingest_progress");
	*ret = count > 0;
	return 0;
}

#define IS_NEW "append_time >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')"

int stored_is_reported(struct clickhouse *ch, const struct stored_key *key,
		       uint64_t first, uint64_t last, int64_t since_ms,
		       bool *ret, struct error *err)
{
	static const char sql[] =
		"SELECT count() FROM ingest_progress WHERE " PARTITION_IS
		"AND " IS_NEW " AND first = {from:UInt64} "
		"AND last = {last:UInt64}";
	const struct question_range range = {first, last, since_ms};
	uint64_t count = 0;

	if (ask_about(ch, sql, key, &range, &count, 1, err) < 0)
		return error_wrap(err, "ingest_progress");
	*ret = count > 0;
	return 0;
}

#define ISLANDS_OF(table, more)                                                \
	"SELECT min(offset), max(offset) FROM (SELECT offset, "                \
	"offset - row_number() OVER (ORDER BY offset) AS island "              \
	"FROM (SELECT DISTINCT offset FROM " table " WHERE " PARTITION_IS      \
	"AND offset >= {from:UInt64} AND offset <= {last:UInt64} " more ")) "  \
	"GROUP BY island ORDER BY 1"

static int add_range(void *arg, char **fields, struct error *err)
{
	return ranges_add(arg, tsv_u64(fields[0]), tsv_u64(fields[1]), err);
}

int stored_ranges(struct clickhouse *ch, const struct stored_key *key,
		  uint64_t from, uint64_t last, int64_t since_ms,
		  struct ranges *ret, struct error *err)
{
	static const char clicks[] = ISLANDS_OF("clicks", "AND " IS_NEW);
	static const char links[] = ISLANDS_OF("links", "");
	bool is_links = strcmp(key->table, "links") == 0;
	const struct question_range range = {from, last, since_ms};

	if (ask_rows(ch, is_links ? links : clicks, key, &range, "nn",
		     add_range, ret, err) < 0)
		return error_wrap(err, "rows stored in %s", key->table);
	return 0;
}

static int add_hour(void *arg, char **fields, struct error *err)
{
	struct batch *b = arg;

	if (tsv_i64(fields[2]) > b->append_ms)
		b->append_ms = tsv_i64(fields[2]);
	return batch_note_hour(b, (uint32_t)tsv_u64(fields[0]),
			       tsv_u64(fields[1]), err);
}

int stored_hours(struct clickhouse *ch, const struct stored_key *key,
		 int64_t since_ms, struct batch *b, struct error *err)
{
	static const char sql[] =
		"SELECT intDiv(toUnixTimestamp64Milli(ts), 3600000) * 3600 "
		"AS h, count(), toUnixTimestamp64Milli(max(append_time)) "
		"FROM clicks WHERE " PARTITION_IS "AND " IS_NEW
		" AND offset >= {from:UInt64} AND offset <= {last:UInt64} "
		"GROUP BY h ORDER BY h";
	const struct question_range range = {b->first, b->last, since_ms};

	if (ask_rows(ch, sql, key, &range, "nnn", add_hour, b, err) < 0)
		return error_wrap(err, "hours of clicks");
	return 0;
}

static int add_creation_hour(void *arg, char **fields, struct error *err)
{
	return batch_note_hour(arg, (uint32_t)tsv_u64(fields[0]), 0, err);
}

int stored_creations(struct clickhouse *ch, const struct stored_key *key,
		     struct batch *b, struct error *err)
{
	static const char sql[] =
		"SELECT DISTINCT "
		"intDiv(toUnixTimestamp64Milli(created_at), 3600000) * 3600 "
		"AS h FROM links WHERE " PARTITION_IS
		"AND offset >= {from:UInt64} AND offset <= {last:UInt64} "
		"ORDER BY h";
	const struct question_range range = {b->first, b->last, 0};

	if (ask_rows(ch, sql, key, &range, "n", add_creation_hour, b, err) < 0)
		return error_wrap(err, "hours of links");
	return 0;
}

/* --- single events -------------------------------------------------------- */

void stored_batches_release(struct stored_batches *b)
{
	free(b->items);
	*b = (struct stored_batches){0};
}

static int add_event(void *arg, char **fields, struct error *err)
{
	struct stored_batches *b = arg;
	size_t room = b->room ? b->room * 2 : 1024;
	struct stored_event *items;

	if (b->count == b->room) {
		items = realloc(b->items, room * sizeof(*items));
		if (!items)
			return error_set_nomem(err);
		b->items = items;
		b->room = room;
	}
	b->items[b->count++] =
		(struct stored_event){tsv_u64(fields[0]), tsv_i64(fields[1])};
	return 0;
}

int stored_batches(struct clickhouse *ch, const struct stored_key *key,
		   uint64_t from, uint64_t end, struct stored_batches *ret,
		   struct error *err)
{
	static const char sql[] =
		"SELECT last, toUnixTimestamp64Milli(max(append_time)) "
		"FROM ingest_progress WHERE " PARTITION_IS "AND " IS_BATCH
		" AND last >= {from:UInt64} AND last < {last:UInt64} "
		"GROUP BY last ORDER BY last";

	const struct question_range range = {from, end, 0};

	if (ask_rows(ch, sql, key, &range, "nn", add_event, ret, err) < 0)
		return error_wrap(err, "batches reported");
	return 0;
}

int stored_events(struct clickhouse *ch, const struct stored_key *key,
		  uint64_t from, uint64_t end, struct stored_batches *ret,
		  struct error *err)
{
	static const char sql[] =
		"SELECT offset, toUnixTimestamp64Milli(max(append_time)) "
		"FROM clicks WHERE " PARTITION_IS
		"AND offset >= {from:UInt64} AND offset < {last:UInt64} "
		"GROUP BY offset ORDER BY offset";

	const struct question_range range = {from, end, 0};

	if (ask_rows(ch, sql, key, &range, "nn", add_event, ret, err) < 0)
		return error_wrap(err, "rows of clicks");
	return 0;
}
