#include "collector/tools/verify/clocks.h"

#include <stdlib.h>

#define SERVER_MS "toUInt64(toUnixTimestamp64Milli(now64(3, 'UTC')))"

static const struct {
	const char *name, *text;
} kinds[] = {
	[AHEAD_STORED] =
		{"stored ahead",
		 "stored under the clock of a collector of a former "
		 "version, which was ahead: write these reports again"},
	[AHEAD_APPENDED] = {"appended ahead",
			    "Kafka's clock was ahead, and may still be: they "
			    "count up to when they were stored"},
	[AHEAD_READ] = {"read ahead",
			"the aggregator says that it read reports up to there: "
			"its next pass mends it"},
	[AHEAD_PROMISED] = {"promised ahead",
			    "the watermark: mend it with `aggregator watermark "
			    "--mend`"},
};

const char *ahead_name(enum ahead_kind kind)
{
	return kinds[kind].name;
}

const char *ahead_text(enum ahead_kind kind)
{
	return kinds[kind].text;
}

void clocks_free(struct clocks *c)
{
	free(c->list);
	*c = (struct clocks){0};
}

static int note_time_ahead(struct clocks *c, const struct ahead *ahead,
			   struct error *err)
{
	size_t room = c->room ? c->room * 2 : 16;
	struct ahead *list = c->list;

	if (!list || c->count == c->room) {
		list = realloc(list, room * sizeof(*list));
		if (!list)
			return error_set_nomem(err);
		c->list = list;
		c->room = room;
	}
	list[c->count++] = *ahead;
	return 0;
}

/* --- reports -------------------------------------------------------------- */

/* Two queries: one uses the table's key, the other its partitions. */
static int check_reports(struct ask *a, enum ahead_kind kind, const char *time,
			 const char *where, struct clocks *ret,
			 struct error *err)
{
	const uint64_t *n;
	size_t count;

	buf_printf(
		ask_begin(a),
		"SELECT toUInt64(partition), toUInt64(epoch), min(first), "
		"max(if(rows + dead_lettered + lost > 0, last, first)), "
		"count(), toUInt64(toUnixTimestamp64Milli(max(%s))), " SERVER_MS
		" FROM ingest_progress "
		"WHERE topic = {topic:String} AND %s "
		"GROUP BY partition, epoch ORDER BY partition, epoch",
		time, where);
	if (ask_numbers(a, 7, &n, &count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++, n += 7) {
		const struct ahead ahead = {
			kind, (uint32_t)n[0], (uint32_t)n[1], n[2],
			n[3], n[4],	      (int64_t)n[5],  (int64_t)n[6]};

		if (note_time_ahead(ret, &ahead, err) < 0)
			return -1;
	}
	return 0;
}

int clocks_check_reports(struct ask *a, struct clocks *ret, struct error *err)
{
	if (check_reports(a, AHEAD_STORED, "inserted_at",
			  "inserted_at > " CLOCKS_LIMIT, ret, err) < 0)
		return -1;
	return check_reports(a, AHEAD_APPENDED, "append_time",
			     "append_time > " CLOCKS_LIMIT
			     " AND inserted_at <= " CLOCKS_LIMIT,
			     ret, err);
}

/* --- watermark ------------------------------------------------------------ */

static int check_time(enum ahead_kind kind, uint64_t time_ms, uint64_t limit_ms,
		      uint64_t server_ms, struct clocks *ret, struct error *err)
{
	const struct ahead ahead = {.kind = kind,
				    .time_ms = (int64_t)time_ms,
				    .server_ms = (int64_t)server_ms};

	return time_ms > limit_ms ? note_time_ahead(ret, &ahead, err) : 0;
}

int clocks_check_settled(struct ask *a, struct clocks *ret, struct error *err)
{
	const uint64_t *n;
	size_t count;

	/* The query follows the aggregator: it takes the last value, and the
	 * greatest watermark that was published with knowledge of the last
	 * mend. */
	buf_puts(ask_begin(a),
		 "WITH (SELECT max(mended) FROM settled) AS known "
		 "SELECT toUInt64(toUnixTimestamp64Milli("
		 "argMax(read_until, attempt))), "
		 "toUInt64(toUnixTimestamp64Milli("
		 "maxIf(complete_until, mended = known))), "
		 "toUInt64(toUnixTimestamp64Milli(" CLOCKS_LIMIT
		 ")), " SERVER_MS " FROM settled");
	if (ask_numbers(a, 4, &n, &count, err) < 0)
		return -1;
	if (count != 1)
		return error_set(err, ERROR_PROTOCOL,
				 "ClickHouse answered rows of another shape");
	if (check_time(AHEAD_READ, n[0], n[2], n[3], ret, err) < 0)
		return -1;
	return check_time(AHEAD_PROMISED, n[1], n[2], n[3], ret, err);
}
