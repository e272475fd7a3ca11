#include "collector/once/stored.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/clickhouse/tsv.h"
#include "common/clock.h"

#define PARTITION_IS                                                           \
	"epoch = {epoch:UInt32} AND topic = {topic:String} "                   \
	"AND partition = {partition:UInt32} "

/* The values that every question names; some use fewer. */
struct question {
	struct buf topic;
	char epoch[16], partition[16], from[24], last[24], since[24];
	struct clickhouse_param params[7];
};

static void question_build(struct question *q, const struct stored_key *key,
			   uint64_t from, uint64_t last, int64_t since_ms)
{
	*q = (struct question){0};
	clickhouse_escape(&q->topic, key->topic, strlen(key->topic));
	snprintf(q->epoch, sizeof(q->epoch), "%" PRIu32, key->epoch);
	snprintf(q->partition, sizeof(q->partition), "%" PRId32,
		 key->partition);
	snprintf(q->from, sizeof(q->from), "%" PRIu64, from);
	snprintf(q->last, sizeof(q->last), "%" PRIu64, last);
	snprintf(q->since, sizeof(q->since), "%" PRId64, since_ms);
	q->params[0] = (struct clickhouse_param){"param_topic", q->topic.data};
	q->params[1] = (struct clickhouse_param){"param_epoch", q->epoch};
	q->params[2] =
		(struct clickhouse_param){"param_partition", q->partition};
	q->params[3] = (struct clickhouse_param){"param_from", q->from};
	q->params[4] = (struct clickhouse_param){"param_since", q->since};
	q->params[5] = (struct clickhouse_param){"param_last", q->last};
	q->params[6] = (struct clickhouse_param){NULL, NULL};
}

static int ask(struct clickhouse *ch, const char *sql, const struct question *q,
	       struct buf *answer, struct error *err)
{
	if (q->topic.failed)
		return error_set_nomem(err);
	return clickhouse_query(ch, sql, q->params, answer, err);
}

/* Asks for one row of `count` numbers. */
static int ask_numbers(struct clickhouse *ch, const char *sql,
		       const struct stored_key *key, uint64_t from,
		       uint64_t *ret, size_t count, struct error *err)
{
	struct buf answer = {0};
	struct question q;
	struct tsv rows;
	char *f[3];
	int status;

	question_build(&q, key, from, 0, 0);
	status = ask(ch, sql, &q, &answer, err);
	if (status == 0) {
		rows = tsv_rows(&answer);
		if (!tsv_next(&rows, f, count))
			status = error_set(err, ERROR_PROTOCOL,
					   "an answer of another shape");
	}
	for (size_t i = 0; status == 0 && i < count; i++)
		ret[i] = tsv_u64(f[i]);
	buf_free(&answer);
	buf_free(&q.topic);
	return status;
}

int stored_sync(struct clickhouse *ch, const char *table, struct error *err)
{
	/* LIGHTWEIGHT, which waits for no merges, is there since 23.4. */
	static const char sql[] =
		"SELECT 'SYSTEM SYNC REPLICA ' || name || "
		"if(toUInt32OrZero(splitByChar('.', version())[1]) * 100 + "
		"toUInt32OrZero(splitByChar('.', version())[2]) >= 2304, "
		"' LIGHTWEIGHT', '') FROM system.tables "
		"WHERE database = currentDatabase() AND name IN "
		"('ingest_epochs', 'ingest_progress', {table:String}) AND "
		"(engine LIKE 'Replicated%' OR engine LIKE 'Shared%') "
		"ORDER BY name FORMAT TabSeparated";
	const struct clickhouse_param params[] = {{"param_table", table},
						  {NULL, NULL}};
	struct buf answer = {0};
	struct tsv rows;
	char *statement;
	int status = clickhouse_query(ch, sql, params, &answer, err);

	rows = tsv_rows(&answer);
	while (status == 0 && tsv_next(&rows, &statement, 1)) {
		status = clickhouse_query(ch, statement, NULL, NULL, err);
		if (status < 0)
			error_wrap(err, "%s", statement);
	}
	buf_free(&answer);
	return status;
}

int stored_epoch(struct clickhouse *ch, const char *topic, uint32_t configured,
		 uint32_t *ret, struct error *err)
{
	static const char sql[] =
		"SELECT max(epoch) FROM ingest_epochs "
		"WHERE topic = {topic:String} AND decision = 'new' "
		"FORMAT TabSeparated";
	struct stored_key key = {.topic = topic};
	uint64_t epoch = 0;

	if (ask_numbers(ch, sql, &key, 0, &epoch, 1, err) < 0)
		return error_wrap(err, "ingest_epochs");
	*ret = epoch > configured ? (uint32_t)epoch : configured;
	return 0;
}

int stored_report(struct clickhouse *ch, const struct stored_key *key,
		  struct stored_report *ret, struct error *err)
{
	/*
	 * The table is in the order of inserted_at: the newest row is found
	 * from its end, and the clocks of those who wrote them differ by less
	 * than a day.  Kafka's clock set the time of a block, a collector's
	 * that of an empty one.
	 */
	static const char sql[] =
		"SELECT count(), " STORED_NEXT ", "
		"toUnixTimestamp64Milli(max(append_time - "
		"if(rows + dead_lettered > 0, INTERVAL 10 MINUTE, "
		"INTERVAL 1 HOUR))) "
		"FROM ingest_progress WHERE " PARTITION_IS
		"AND inserted_at > (SELECT inserted_at - INTERVAL 1 DAY "
		"FROM ingest_progress WHERE " PARTITION_IS
		"ORDER BY inserted_at DESC LIMIT 1) FORMAT TabSeparated";
	uint64_t n[3] = {0};

	if (ask_numbers(ch, sql, key, 0, n, 3, err) < 0)
		return error_wrap(err, "ingest_progress");
	*ret = (struct stored_report){n[0] > 0, n[1], (int64_t)n[2]};
	if (!ret->any)
		*ret = (struct stored_report){0};
	return 0;
}

int stored_same(struct clickhouse *ch, const struct stored_key *key,
		uint64_t next, bool *ret, struct error *err)
{
	static const char sql[] =
		"SELECT count() FROM ingest_epochs WHERE " PARTITION_IS
		"AND decision = 'same' AND next = {from:UInt64} "
		"FORMAT TabSeparated";
	uint64_t count = 0;

	if (ask_numbers(ch, sql, key, next, &count, 1, err) < 0)
		return error_wrap(err, "ingest_epochs");
	*ret = count > 0;
	return 0;
}

#define IS_NEW "append_time >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')"

#define ISLANDS_OF(table, more)                                                \
	"SELECT min(offset), max(offset) FROM (SELECT offset, "                \
	"offset - row_number() OVER (ORDER BY offset) AS island "              \
	"FROM (SELECT DISTINCT offset FROM " table " WHERE " PARTITION_IS      \
	"AND offset >= {from:UInt64} " more ")) "                              \
	"GROUP BY island ORDER BY 1 FORMAT TabSeparated"

int stored_ranges(struct clickhouse *ch, const struct stored_key *key,
		  uint64_t from, int64_t since_ms, struct ranges *ret,
		  struct error *err)
{
	static const char clicks[] = ISLANDS_OF("clicks", "AND " IS_NEW);
	static const char links[] = ISLANDS_OF("links", "");
	bool is_links = strcmp(key->table, "links") == 0;
	struct buf answer = {0};
	struct question q;
	struct tsv rows;
	char *f[2];
	int status;

	question_build(&q, key, from, 0, since_ms > 0 ? since_ms : 0);
	status = ask(ch, is_links ? links : clicks, &q, &answer, err);
	if (status < 0)
		error_wrap(err, "rows stored in %s", key->table);
	rows = tsv_rows(&answer);
	while (status == 0 && tsv_next(&rows, f, 2))
		status = ranges_add(ret, tsv_u64(f[0]), tsv_u64(f[1]), err);
	if (status == 0 && rows.bad)
		status = error_set(err, ERROR_PROTOCOL,
				   "an answer of another shape");
	buf_free(&answer);
	buf_free(&q.topic);
	return status;
}

int stored_hours(struct clickhouse *ch, const struct stored_key *key,
		 int64_t since_ms, struct batch *b, struct error *err)
{
	static const char sql[] =
		"SELECT intDiv(toUnixTimestamp64Milli(ts), 3600000) * 3600 "
		"AS hour, count(), toUnixTimestamp64Milli(max(append_time)) "
		"FROM clicks WHERE " PARTITION_IS "AND " IS_NEW
		" AND offset >= {from:UInt64} AND offset <= {last:UInt64} "
		"GROUP BY hour ORDER BY hour FORMAT TabSeparated";
	struct buf answer = {0};
	struct question q;
	struct tsv rows;
	char *f[3];
	int status;

	question_build(&q, key, b->first, b->last, since_ms > 0 ? since_ms : 0);
	status = ask(ch, sql, &q, &answer, err);
	if (status < 0)
		error_wrap(err, "hours of clicks");
	rows = tsv_rows(&answer);
	while (status == 0 && tsv_next(&rows, f, 3)) {
		if (tsv_i64(f[2]) > b->append_ms)
			b->append_ms = tsv_i64(f[2]);
		status = batch_note_hour(b, (uint32_t)tsv_u64(f[0]),
					 tsv_u64(f[1]), err);
	}
	if (status == 0 && rows.bad)
		status = error_set(err, ERROR_PROTOCOL,
				   "an answer of another shape");
	buf_free(&answer);
	buf_free(&q.topic);
	return status;
}
