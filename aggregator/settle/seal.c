#include "aggregator/settle/seal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/settle/day_attempts.h"
#include "aggregator/settle/dropped.h"
#include "aggregator/settle/settle_sql.h"
#include "aggregator/zone/civil.h"
#include "common/clickhouse/rows.h"

/* --- which days -------------------------------------------------------------
 */

/* Those that were dropped are read even while late clicks wait for being
 * sealed: their other clicks are nowhere else. */
#define SQL_IS_READ "(" SQL_IS_SEALED "OR n_dropped > 0) "
#define SQL_SEALED                                                             \
	"(SELECT toDateTime(d, 'UTC') AS u, n_sealed FROM " SQL_DAY_ATTEMPTS   \
	"WHERE " SQL_IS_READ ")"

/* A row is: start of the day, its attempt, number of its drop. */
static int add_sealed(void *arg, char **f, struct error *err)
{
	struct sealed_days *days = arg;
	struct sealed_day *more =
		reallocarray(days->items, days->count + 1, sizeof(*more));

	if (!more)
		return error_set_nomem(err);
	days->items = more;
	more[days->count++] = (struct sealed_day){tsv_i64(f[0]), tsv_u64(f[1])};
	if (tsv_u64(f[2]))
		days->rows_from = tsv_i64(f[0]) + CIVIL_DAY;
	return 0;
}

int sealed_days_read(struct clickhouse *ch, struct sealed_days *ret,
		     struct error *err)
{
	static const char sql[] =
		"SELECT d, n_sealed, n_dropped FROM " SQL_DAY_ATTEMPTS
		"WHERE " SQL_IS_READ "AND toDateTime(d, 'UTC') >= "
		"(SELECT max(unit) FROM settled WHERE kind = 'kept_from') "
		"ORDER BY d FORMAT TabSeparated";

	static const char kept[] =
		"SELECT toUInt32(max(unit)) FROM settled "
		"WHERE kind = 'kept_from' FORMAT TabSeparated";
	uint64_t from = 0;

	*ret = (struct sealed_days){0};
	if (clickhouse_numbers(ch, kept, NULL, &from, 1, err) < 0 ||
	    clickhouse_rows(ch, sql, NULL, "nnn", add_sealed, ret, err) < 0) {
		sealed_days_release(ret);
		return error_wrap(err, "sealed days");
	}
	ret->kept_from = (int64_t)from;
	if (ret->rows_from < ret->kept_from)
		ret->rows_from = ret->kept_from;
	return 0;
}

void sealed_days_release(struct sealed_days *days)
{
	free(days->items);
	*days = (struct sealed_days){0};
}

int sealed_days_put(const struct sealed_days *days, struct buf *starts,
		    struct buf *attempts, struct error *err)
{
	buf_putc(starts, '[');
	buf_putc(attempts, '[');
	for (size_t i = 0; i < days->count; i++) {
		const struct sealed_day *day = &days->items[i];

		buf_printf(starts, "%s%" PRId64, i ? "," : "", day->start);
		buf_printf(attempts, "%s%" PRIu64, i ? "," : "", day->attempt);
	}
	buf_putc(starts, ']');
	buf_putc(attempts, ']');
	return buf_cstr(starts) && buf_cstr(attempts) ? 0
						      : error_set_nomem(err);
}

/* Days that are to be sealed. */
struct pending {
	uint64_t days;
	int64_t first;	  /* -1: none */
	uint64_t dropped; /* number of its drop; 0: none */
};

/* Of those after `after`. */
static int find_pending(const struct settling *s, int64_t after,
			struct pending *ret, struct error *err)
{
	static const char sql[] =
		"SELECT count(), min(d), argMin(n_dropped, d) "
		"FROM " SQL_DAY_ATTEMPTS
		"WHERE n_day > n_hour AND n_day > n_sealed AND n_day > n_held "
		"AND toInt64(d) > {after:Int64} "
		"AND toInt64(d) * 1000 + {age:Int64} <= {now:Int64} "
		"FORMAT TabSeparated";
	uint64_t found[3] = {0};
	char least[24], age[24], now[24];
	const struct clickhouse_param params[] = {{"param_after", least},
						  {"param_age", age},
						  {"param_now", now},
						  {NULL, NULL}};

	snprintf(least, sizeof(least), "%" PRId64, after);
	snprintf(age, sizeof(age), "%" PRId64,
		 CIVIL_DAY * 1000 + s->settings->late_window);
	snprintf(now, sizeof(now), "%" PRId64, settling_now(s));
	if (clickhouse_numbers(s->ch, sql, params, found, 3, err) < 0)
		return error_wrap(err, "days to seal");
	*ret = (struct pending){found[0], found[0] ? (int64_t)found[1] : -1,
				found[2]};
	return 0;
}

int seal_pending(const struct settling *s, uint64_t *ret_days,
		 int64_t *ret_first, struct error *err)
{
	struct pending pending = {0};

	if (find_pending(s, -1, &pending, err) < 0)
		return -1;
	*ret_days = pending.days;
	*ret_first = pending.first;
	return 0;
}

/* --- one day ----------------------------------------------------------------
 */

#define SQL_SLOTS                                                              \
	"slot >= toDateTime({start:UInt32}, 'UTC') AND "                       \
	"slot < toDateTime({end:UInt32}, 'UTC') "
#define SQL_ROWS                                                               \
	"(SELECT count() FROM clicks WHERE link_id != 0 AND " SQL_RANGE ")"
#define SQL_ROWS_AND_BASE                                                      \
	"(SELECT countIf(link_id != 0) FROM " SQL_BESIDE                       \
	") + " SQL_BASE_OF_LINKS
#define SQL_SETTLED                                                            \
	"(SELECT sum(effective + ineffective) FROM link_slots "                \
	"WHERE " SQL_SLOTS "AND attempt = (SELECT max(attempt) FROM settled "  \
	"WHERE kind = 'link_day' AND unit = "                                  \
	"toDateTime({start:UInt32}, 'UTC')))"
#define SQL_STAGED                                                             \
	"(SELECT sum(events) FROM sealed_slots WHERE " SQL_SLOTS               \
	"AND attempt = {attempt:UInt64})"

struct work {
	const struct settling *s;
	int64_t start;
	uint64_t attempt;
	uint64_t dropped; /* number of the day's drop; 0: none */
	uint64_t rows, settled, staged;
	struct settling_params params;
};

static int set_params(struct work *w, const struct progress *last,
		      struct error *err)
{
	static const char *const names[] = {
		"param_start", "param_end",	   "param_attempt",
		"param_rows",  "param_read_until", "param_complete_until",
		"param_until", "param_dropped"};
	const uint64_t numbers[] = {
		(uint64_t)w->start,
		(uint64_t)(w->start + CIVIL_DAY),
		w->attempt,
		w->staged,
		(uint64_t)last->read_until,
		(uint64_t)last->complete_until,
		(uint64_t)settling_attempt_until(w->s, w->attempt),
		w->dropped,
	};
	struct clickhouse_param *end = w->params.items;

	if (settling_params_fill(&w->params, w->s, names, numbers,
				 sizeof(names) / sizeof(*names), err) < 0)
		return -1;
	while (end->name)
		end++;
	/* GROUP BY follows the order of `clicks`: memory stays flat. */
	*end++ =
		(struct clickhouse_param){"optimize_aggregation_in_order", "1"};
	*end = (struct clickhouse_param){NULL, NULL};
	return 0;
}

static void take_counts(void *arg, const uint64_t *n)
{
	struct work *w = arg;

	w->rows = n[0];
	w->settled = n[1];
	w->staged = n[2];
}

static int count(struct work *w, struct error *err)
{
#define COUNTS_AFTER(rows)                                                     \
	"SELECT " rows ", " SQL_SETTLED ", " SQL_STAGED " FORMAT TabSeparated"
	static const char sql[] = COUNTS_AFTER(SQL_ROWS);
	static const char sql_dropped[] = COUNTS_AFTER(SQL_ROWS_AND_BASE);

	return settling_query(w->s->ch, w->dropped ? sql_dropped : sql,
			      w->params.items, 3, take_counts, w, err);
}

#define SET(member, condition)                                                 \
	", arraySort(groupUniqArrayIf(" member ", " condition "))"

#define SQL_INTO_SEALED                                                        \
	"INSERT INTO sealed_slots (link_id, slot, attempt, events, clicks, "   \
	"bots, prefetches, people, others, people_ips, others_ips) "

static int stage(struct work *w, const struct progress *last, struct error *err)
{
	/* clang-format off */
	static const char sql[] = SQL_INTO_SEALED
		"SELECT link_id, " SQL_SLOT " AS quarter, "
		"{attempt:UInt64}, count(), countIf(" SQL_CLICK "), "
		"countIf(" SQL_BOT "), countIf(" SQL_PREFETCH ")"
		SET(SQL_VISITOR, SQL_HUMAN) SET(SQL_VISITOR, SQL_OTHER)
		SET(SQL_ADDRESS, SQL_HUMAN) SET(SQL_ADDRESS, SQL_OTHER)
		" FROM clicks WHERE link_id != 0 AND " SQL_RANGE
		" GROUP BY link_id, quarter";
	/* clang-format on */
	static const char sql_dropped[] = SQL_INTO_SEALED
		"SELECT l, s, {attempt:UInt64}, sum(n), sum(c), sum(b), "
		"sum(p), arraySort(groupUniqArrayArray(hv)), "
		"arraySort(groupUniqArrayArray(ov)), "
		"arraySort(groupUniqArrayArray(hi)), "
		"arraySort(groupUniqArrayArray(oi)) "
		"FROM " SQL_DROPPED_SLOTS " GROUP BY l, s";
	const struct settled_row row = {
		SETTLED_SEALING, {.start = w->start}, w->attempt};
	struct buf text = {0};
	int status;

	if (settling_insert(w->s, &row, 1, last, err) < 0)
		return -1;
	buf_puts(&text, w->dropped ? sql_dropped : sql);
	status = settling_run(w->s->ch, &text, w->params.items, err);
	buf_free(&text);
	return status;
}

static void take_flag(void *arg, const uint64_t *n)
{
	*(bool *)arg = n[0] > 0;
}

static int publish(struct work *w, const struct progress *last,
		   struct error *err)
{
	/* Not beside something of the day that was published meanwhile. */
	static const char sql[] =
		"INSERT INTO settled (kind, unit, attempt, blocks, rows, "
		"read_until, complete_until, settled_at, settler) "
		"SELECT 'sealed_day', toDateTime({start:UInt32}, 'UTC'), "
		"{attempt:UInt64}, 0, {rows:UInt64}, "
		"fromUnixTimestamp64Milli({read_until:Int64}, 'UTC'), "
		"fromUnixTimestamp64Milli({complete_until:Int64}, 'UTC'), "
		"now64(3, 'UTC'), {settler:String} WHERE " SQL_STAGED
		" = {rows:UInt64} AND " SQL_SETTLED " = {rows:UInt64} "
		"AND (SELECT max(attempt) FROM settled WHERE "
		"kind IN ('hour', 'link_day') AND "
		"unit >= toDateTime({start:UInt32}, 'UTC') AND "
		"unit < toDateTime({end:UInt32}, 'UTC')) < {attempt:UInt64} "
		"AND now64(3, 'UTC') < "
		"fromUnixTimestamp64Milli({until:Int64}, 'UTC')";
	static const char is_written[] =
		"SELECT count() > 0 FROM settled WHERE kind = 'sealed_day' AND "
		"unit = toDateTime({start:UInt32}, 'UTC') "
		"AND attempt = {attempt:UInt64} FORMAT TabSeparated";
	struct buf text = {0};
	bool written = false;
	int status = -1;

	if (set_params(w, last, err) < 0 ||
	    w->s->check_lease(w->s->arg, err) < 0 ||
	    settling_check_age(w->s, w->attempt, err) < 0)
		return -1;
	buf_puts(&text, sql);
	if (settling_run(w->s->ch, &text, w->params.items, err) == 0)
		status = settling_query(w->s->ch, is_written, w->params.items,
					1, take_flag, &written, err);
	if (status == 0 && !written)
		status = error_set(err, ERROR_PROTOCOL,
				   "it is not what was counted; computing it "
				   "again");
	buf_free(&text);
	return status;
}

static int seal(struct work *w, const struct progress *last, bool *ret_sealed,
		struct error *err)
{
	*ret_sealed = false;
	if (set_params(w, last, err) < 0 || count(w, err) < 0)
		return -1;
	if (w->rows != w->settled)
		return 0;
	if (stage(w, last, err) < 0 || count(w, err) < 0)
		return -1;
	if (w->staged != w->rows || w->staged != w->settled)
		return error_set(err, ERROR_PROTOCOL,
				 "%" PRIu64 " events were staged of %" PRIu64
				 " rows, %" PRIu64 " settled; computing it "
				 "again",
				 w->staged, w->rows, w->settled);
	if (publish(w, last, err) < 0)
		return -1;
	*ret_sealed = true;
	return 0;
}

int seal_next(const struct settling *s, int64_t after,
	      const struct progress *last, int64_t *ret_start, bool *ret_sealed,
	      struct error *err)
{
	struct work w = {.s = s};
	struct pending pending = {0};
	int status;

	*ret_sealed = false;
	if (find_pending(s, after, &pending, err) < 0)
		return -1;
	*ret_start = pending.first;
	if (pending.first < 0)
		return 0;
	w.start = pending.first;
	w.dropped = pending.dropped;
	w.attempt = settling_attempt_next(settling_now(s), last->attempt);
	status = seal(&w, last, ret_sealed, err);
	settling_params_release(&w.params);
	return status < 0 ? error_wrap(err, "seal day %" PRId64, w.start) : 0;
}

/* --- cleaning ---------------------------------------------------------------
 */

/* Waits for the mutations: what follows relies on them. */
static const struct clickhouse_param mutation[] = {{"mutations_sync", "1"},
						   {NULL, NULL}};

/* A row is: month, start of the day, attempt. */
static int delete_attempt(void *arg, char **f, struct error *err)
{
	struct clickhouse *ch = arg;
	uint64_t start = tsv_u64(f[1]), attempt = tsv_u64(f[2]);
	struct buf sql = {0};
	int status;

	buf_printf(&sql,
		   "ALTER TABLE sealed_slots DELETE IN PARTITION ID "
		   "'%" PRIu64 "' WHERE attempt = %" PRIu64,
		   tsv_u64(f[0]), attempt);
	status = settling_run(ch, &sql, mutation, err);
	buf_printf(&sql,
		   "ALTER TABLE settled DELETE WHERE kind = 'sealing' AND "
		   "toUInt32(unit) = %" PRIu64 " AND attempt = %" PRIu64,
		   start, attempt);
	if (status == 0)
		status = settling_run(ch, &sql, mutation, err);
	buf_free(&sql);
	return status;
}

int seal_clean(struct clickhouse *ch, int64_t before_ms, struct error *err)
{
	static const char sql[] =
		"SELECT toYYYYMM(unit), toUInt32(unit), attempt FROM settled "
		"WHERE kind = 'sealing' AND attempt < {before:UInt64} "
		"AND (unit, attempt) NOT IN " SQL_SEALED
		" AND (unit, attempt) NOT IN (SELECT unit, max(attempt) FROM "
		"settled WHERE kind = 'base_sealed' GROUP BY unit) "
		"FORMAT TabSeparated";
	char before[24];
	const struct clickhouse_param params[] = {{"param_before", before},
						  {NULL, NULL}};

	snprintf(before, sizeof(before), "%" PRIu64,
		 settling_attempt_at(before_ms));
	return clickhouse_rows(ch, sql, params, "nnn", delete_attempt, ch, err);
}
