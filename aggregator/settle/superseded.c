#include "aggregator/settle/superseded.h"

#include <inttypes.h>
#include <string.h>

#include "aggregator/settle/day_copy.h"
#include "aggregator/settle/derived_tables.h"
#include "aggregator/settle/drop.h"
#include "aggregator/settle/settling.h"
#include "common/clickhouse/rows.h"
#include "common/clock.h"

/*
 * Waits for the mutation, because the next statements rely on it.  The
 * sub-queries read `settled`, which makes them "nondeterministic" in a cluster.
 */
static const struct clickhouse_param mutation[] = {
	{"mutations_sync", "1"},
	{"allow_nondeterministic_mutations", "1"},
	{NULL, NULL}};

struct table_cleaning {
	struct clickhouse *ch;
	uint64_t before; /* attempt */
	const char *table;
};

/* Runs a query for one column and passes each value to `fn`. */
static int for_each(struct clickhouse *ch, struct buf *sql, const char *column,
		    clickhouse_row_fn *fn, void *arg, struct error *err)
{
	int status = buf_cstr(sql) ? settling_for_each(ch, sql->data, NULL,
						       column, fn, arg, err)
				   : error_set_nomem(err);

	buf_free(sql);
	return status;
}

/* Begins the statement; the condition follows. */
static void put_delete_of_day(struct buf *sql, const char *day)
{
	buf_printf(sql,
		   "ALTER TABLE stats_hourly DELETE IN PARTITION ID "
		   "'%" PRIu64 "' WHERE ",
		   tsv_u64(day));
}

/* Rows that are neither an hour's newest published attempt nor its base. */
static void put_superseded(struct buf *sql, const struct table_cleaning *c)
{
	buf_printf(sql,
		   "attempt < %" PRIu64
		   " AND (hour, attempt) NOT IN (SELECT unit, max(attempt) "
		   "FROM settled WHERE kind IN ('hour', 'base_hour') "
		   "GROUP BY kind, unit)",
		   c->before);
}

static int delete_hours(void *arg, char **day, struct error *err)
{
	const struct table_cleaning *c = arg;
	struct buf sql = {0};
	int status;

	put_delete_of_day(&sql, day[0]);
	put_superseded(&sql, c);
	status = settling_run(c->ch, &sql, mutation, err);
	buf_free(&sql);
	return status;
}

/* Hours that are or recently were settled by what arrives are this young. */
#define OPEN_HOURS_MS (3 * CLOCK_HOUR)

static void put_superseded_open(struct buf *sql, int64_t now_ms, int64_t keep)
{
	buf_printf(sql,
		   "hour >= toDateTime(%" PRId64 ", 'UTC') AND "
		   "(hour, attempt) IN (SELECT unit, attempt FROM settled "
		   "INNER JOIN (SELECT unit AS u, max(attempt) AS newer FROM "
		   "settled WHERE kind = 'hour' AND unit >= "
		   "toDateTime(%" PRId64 ", 'UTC') AND settled_at < "
		   "fromUnixTimestamp64Milli(toInt64(%" PRId64 "), 'UTC') "
		   "GROUP BY u) AS n ON settled.unit = n.u "
		   "WHERE kind = 'hour' AND attempt < newer)",
		   (now_ms - OPEN_HOURS_MS) / CLOCK_SECOND,
		   (now_ms - OPEN_HOURS_MS) / CLOCK_SECOND, now_ms - keep);
}

struct open_cleaning {
	struct table_cleaning cleaning;
	int64_t now_ms, keep;
};

static int delete_open_hours(void *arg, char **day, struct error *err)
{
	const struct open_cleaning *c = arg;
	struct buf sql = {0};
	int status;

	put_delete_of_day(&sql, day[0]);
	put_superseded_open(&sql, c->now_ms, c->keep);
	status = settling_run(c->cleaning.ch, &sql, mutation, err);
	buf_free(&sql);
	return status;
}

int superseded_delete_open(struct clickhouse *ch, int64_t now_ms, int64_t keep,
			   struct error *err)
{
	struct open_cleaning c = {{.ch = ch}, now_ms, keep};
	struct buf sql = {0};

	buf_puts(&sql, "SELECT DISTINCT toYYYYMMDD(hour) FROM stats_hourly "
		       "WHERE dimension = 'total' AND ");
	put_superseded_open(&sql, now_ms, keep);
	buf_puts(&sql, " FORMAT TabSeparated");
	return for_each(ch, &sql, "n", delete_open_hours, &c, err) < 0
		       ? error_wrap(err, "delete superseded open hours")
		       : 0;
}

/*
 * Finds the days (partitions of stats_hourly) that have such rows.  The rows
 * themselves are searched, because `settled` need not have an attempt that was
 * never published: its settler was killed, or the hour is held back.  Each
 * attempt has rows of `total`, and few; other dimensions would be millions of
 * rows.
 */
static int clean_hours(struct table_cleaning *c, struct error *err)
{
	struct buf sql = {0};

	buf_puts(&sql, "SELECT DISTINCT toYYYYMMDD(hour) FROM stats_hourly "
		       "WHERE dimension = 'total' AND ");
	put_superseded(&sql, c);
	buf_puts(&sql, " FORMAT TabSeparated");
	return for_each(c->ch, &sql, "n", delete_hours, c, err);
}

/* An attempt is a partition: "20261024-1878000000000000000". */
static bool is_partition(const char *id)
{
	return strspn(id, "0123456789-") == strlen(id) && *id;
}

static int drop_attempt(void *arg, char **id, struct error *err)
{
	const struct table_cleaning *c = arg;
	struct buf sql = {0};
	int status;

	if (!is_partition(id[0]))
		return 0;
	buf_printf(&sql, "ALTER TABLE %s DROP PARTITION ID '%s'", c->table,
		   id[0]);
	status = settling_run(c->ch, &sql, NULL, err);
	buf_free(&sql);
	return status;
}

static int clean_links(struct table_cleaning *c, const char *table,
		       struct error *err)
{
	struct buf sql = {0};

	c->table = table;
	buf_printf(&sql,
		   "SELECT DISTINCT partition_id FROM system.parts WHERE "
		   "database = currentDatabase() AND table = '%s' AND active "
		   "AND toUInt64OrZero(splitByChar('-', partition_id)[2]) < "
		   "%" PRIu64 " AND partition_id NOT IN (SELECT "
		   "concat(toString(toYYYYMMDD(unit)), '-', "
		   "toString(max(attempt))) FROM settled WHERE "
		   "kind = 'link_day' GROUP BY unit) FORMAT TabSeparated",
		   table, c->before);
	return for_each(c->ch, &sql, "s", drop_attempt, c, err);
}

static int clean_settled(const struct table_cleaning *c, struct error *err)
{
	struct buf sql = {0};
	int status;

	buf_printf(&sql,
		   "ALTER TABLE settled DELETE WHERE attempt < %" PRIu64
		   " AND attempt != mended AND kind NOT IN (",
		   c->before);
	derived_put_markers(&sql);
	buf_puts(&sql, ") AND (kind, unit, attempt) NOT IN (SELECT kind, "
		       "argMax(unit, attempt), max(attempt) FROM settled "
		       "GROUP BY kind, "
		       "if(kind = 'pass', toDateTime(0, 'UTC'), unit))");
	status = settling_run(c->ch, &sql, mutation, err);
	buf_free(&sql);
	return status;
}

void overtaken_see(struct overtaken *o, uint64_t newest, int64_t monotonic_ms,
		   int64_t longest_ms)
{
	if (newest < o->newest)
		*o = (struct overtaken){0};
	if (o->seen_at && monotonic_ms - o->seen_at >= longest_ms) {
		o->before = o->newest;
		o->seen_at = 0;
	}
	if (!o->seen_at) {
		o->newest = newest;
		o->seen_at = monotonic_ms;
	}
}

/*
 * Reads the greatest number of a pass.  Its row is deleted only after a greater
 * one exists, so later queries never return a lesser number.  A publication can
 * appear as late as a statement's duration after its deadline, because the
 * server checks the time at the statement's start.
 */
static int update_overtaken(const struct settling *s, struct overtaken *o,
			    struct error *err)
{
	static const char sql[] = "SELECT max(attempt) FROM settled "
				  "WHERE kind = 'pass' FORMAT TabSeparated";
	uint64_t newest = 0;

	if (clickhouse_numbers(s->ch, sql, NULL, &newest, 1, err) < 0)
		return -1;
	overtaken_see(o, newest, clock_monotonic_ms(),
		      settling_longest(s) + s->settings->settle_timeout);
	return 0;
}

/* Rows of stats_hourly and partitions of link_slots and link_days come first,
 * then rows of `settled`, so that a half-done deletion is found again. */
static int clean_superseded_attempts(struct table_cleaning *c,
				     struct error *err)
{
	const struct derived_table *links = derived_tables[DERIVED_DAYS].tables;
	struct clickhouse *ch = c->ch;
	struct error first = {0};
	int status = settling_note(ch, clean_hours(c, err), &first, err);

	for (size_t i = 0;
	     status == 0 && i < DERIVED_TABLES_MAX && links[i].name; i++)
		status = settling_note(ch, clean_links(c, links[i].name, err),
				       &first, err);
	for (size_t i = 0; status == 0 && i < COPIED_KINDS; i++)
		status = settling_note(
			ch,
			day_copy_clean(ch, derived_copy((enum copied)i),
				       c->before, err),
			&first, err);
	if (status == 0)
		status = settling_note(ch, drop_clean(ch, c->before, err),
				       &first, err);
	if (status == 0)
		status = settling_noted(&first, err);
	if (status == 0)
		status = clean_settled(c, err);
	return status;
}

int superseded_delete(const struct settling *s, struct overtaken *o,
		      struct error *err)
{
	int64_t before_ms = settling_now(s) - s->settings->keep_superseded;
	struct table_cleaning c = {.ch = s->ch,
				   .before = settling_attempt_at(before_ms)};
	int status = update_overtaken(s, o, err);

	if (status == 0) {
		if (o->before > c.before)
			c.before = o->before;
		status = clean_superseded_attempts(&c, err);
	}
	return status < 0 ? error_wrap(err, "delete what is superseded") : 0;
}
