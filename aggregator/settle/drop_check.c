#include "aggregator/settle/drop_check.h"

#include <stdbool.h>
#include <string.h>

#include "aggregator/dimension.h"
#include "aggregator/settle/dropped.h"
#include "aggregator/settle/owner_values.h"
#include "aggregator/settle/settle_sql.h"
#include "aggregator/zone/civil.h"
#include "common/buf.h"
#include "common/clickhouse/rows.h"

#define DIMENSIONS_MAX 64

enum checked_table {
	STATS_HOURLY,
	LINK_SLOTS,
	LINK_DAYS,
	SEALED_SLOTS,
	OWNER_SLOTS,
	OWNER_VALUES,
	DAY_VALUES,
	TABLES
};

static const char *const names[TABLES] = {
	[STATS_HOURLY] = "stats_hourly", [LINK_SLOTS] = "link_slots",
	[LINK_DAYS] = "link_days",	 [SEALED_SLOTS] = "sealed_slots",
	[OWNER_SLOTS] = "owner_slots",	 [OWNER_VALUES] = "owner_values",
	[DAY_VALUES] = "day_values",
};

/* Events under the attempts that are checked, and in the base of the previous
 * drop. */
struct event_counts {
	uint64_t now, base;
};

/* Rows of `clicks`, and the tags in them. */
struct rows {
	uint64_t all, of_links, tags, tags_of_links;
};

struct day_check {
	const struct settling *s;
	struct drop_attempts attempts;
	bool of_base;	 /* the base itself is checked */
	uint64_t events; /* in the base */
	struct rows rows;
	/* The counts by dimension; a table without dimensions has index 0. */
	struct event_counts counts[TABLES][DIMENSIONS_MAX];
	struct settling_params params;
	struct drop_lack *ret;
};

static int set_params(struct day_check *c, int64_t start, uint64_t dropped,
		      struct error *err)
{
	static const char *const params[] = {"param_start",   "param_end",
					     "param_dropped", "param_sealed",
					     "param_owner",   "param_value"};
	const uint64_t numbers[] = {
		(uint64_t)start,   (uint64_t)(start + CIVIL_DAY),
		dropped,	   c->attempts.sealed,
		c->attempts.owner, c->attempts.value,
	};

	return settling_params_fill(&c->params, c->s, params, numbers,
				    sizeof(params) / sizeof(*params), err);
}

/* --- counting ---------------------------------------------------------------
 */

#define SQL_UNIT "unit = toDateTime({start:UInt32}, 'UTC')"
#define SQL_OF_BASE(kind)                                                      \
	"(SELECT max(attempt) FROM settled WHERE kind = '" kind                \
	"' AND " SQL_UNIT ")"
#define SQL_ROWS_OF(rows)                                                      \
	"SELECT count(), countIf(link_id != 0), "                              \
	"sum(length(" DIMENSION_MANY_VALUES ")), "                             \
	"sumIf(length(" DIMENSION_MANY_VALUES "), link_id != 0) "              \
	"FROM " rows " FORMAT TabSeparated"

static void take_rows(void *arg, const uint64_t *n)
{
	*(struct rows *)arg = (struct rows){n[0], n[1], n[2], n[3]};
}

static int count_rows(struct day_check *c, const char *sql, struct error *err)
{
	return settling_query(c->s->ch, sql, c->params.items, 4, take_rows,
			      &c->rows, err);
}

/* Adds a table whose events are `sum`: events of rows that meet the condition
 * `now`, and of those that meet `base`. */
static void put_table(struct buf *sql, enum checked_table table,
		      const char *sum, const char *rows, const char *now,
		      const char *base)
{
	bool grouped = table == STATS_HOURLY || table == OWNER_VALUES ||
		       table == DAY_VALUES;

	buf_printf(sql,
		   "%sSELECT '%s' AS t, %s AS m, sumIf(%s, %s) AS x, "
		   "sumIf(%s, %s) AS y FROM %s WHERE %s GROUP BY m",
		   table ? " UNION ALL " : "", names[table],
		   grouped ? "toString(dimension)" : "''", sum, now, sum, base,
		   names[table], rows);
}

static void put_hours(struct buf *sql, const struct day_check *c)
{
	static const char in_base[] = "(hour, attempt) IN " SQL_BASE_HOURS;

	put_table(sql, STATS_HOURLY, "events", SQL_IN_HOURS,
		  c->of_base ? in_base : SQL_ARE_PUBLISHED,
		  c->of_base ? "false" : in_base);
}

#define SQL_OF_LINK_DAY "attempt = " SQL_OF_BASE("link_day")

/* These tables have no base: each settling writes them anew. */
static void put_links(struct buf *sql)
{
	put_table(sql, LINK_SLOTS, "effective + ineffective",
		  SQL_IN_SLOTS "AND " SQL_OF_LINK_DAY, "true", "false");
	put_table(sql, LINK_DAYS, "pv",
		  "day = " OWNER_VALUES_DAY " AND " SQL_OF_LINK_DAY, "true",
		  "false");
}

#define SQL_SEALED     "attempt = {sealed:UInt64}"
#define SQL_OWNER      "attempt = {owner:UInt64}"
#define SQL_VALUE      "attempt = {value:UInt64}"
#define SQL_BASE(kind) "attempt = " SQL_OF_BASE(kind)

static void put_copies(struct buf *sql)
{
	put_table(sql, SEALED_SLOTS, "events", SQL_IN_SLOTS, SQL_SEALED,
		  SQL_BASE("base_sealed"));
	put_table(sql, OWNER_SLOTS, "events", SQL_IN_SLOTS, SQL_OWNER,
		  SQL_BASE("base_owner"));
	put_table(sql, OWNER_VALUES, "events", "day = " OWNER_VALUES_DAY,
		  SQL_OWNER " OR " SQL_VALUE,
		  SQL_BASE("base_owner") " OR " SQL_BASE("base_value"));
	put_table(sql, DAY_VALUES, "events", "day = " OWNER_VALUES_DAY,
		  SQL_VALUE, SQL_BASE("base_value"));
}

/* A row is: table, dimension, events, events of the base. */
static int take_table(void *arg, char **f, struct error *err)
{
	struct day_check *c = arg;
	const struct dimension *d = dimension_find(f[1]);
	size_t i = d ? (size_t)(d - dimensions) : 0;
	bool known = d || !*f[1] || !strcmp(f[1], dimensions[0].name);

	(void)err;
	for (size_t t = 0; t < TABLES; t++)
		if (known && i < DIMENSIONS_MAX && !strcmp(f[0], names[t]))
			c->counts[t][i] = (struct event_counts){tsv_u64(f[2]),
								tsv_u64(f[3])};
	return 0;
}

static int count_tables(struct day_check *c, struct error *err)
{
	struct buf sql = {0};
	int status;

	put_hours(&sql, c);
	put_links(&sql);
	put_copies(&sql);
	buf_puts(&sql, " FORMAT TabSeparated");
	status = buf_cstr(&sql)
			 ? clickhouse_rows(c->s->ch, sql.data, c->params.items,
					   "ssnn", take_table, c, err)
			 : error_set_nomem(err);
	buf_free(&sql);
	return status;
}

/* --- comparing --------------------------------------------------------------
 */

/* Whether each event is in the dimension once: dimensions of hours, owners,
 * days. */
typedef bool has_fn(const struct dimension *d);

static bool is_of_hours(const struct dimension *d)
{
	return d->kind == DIMENSION_VISITORS || d->kind == DIMENSION_BUSIEST;
}

static bool is_of_owners(const struct dimension *d)
{
	return d != dimensions && is_of_hours(d);
}

static bool is_of_days(const struct dimension *d)
{
	return d->kind == DIMENSION_DAILY;
}

static bool count_differs(struct day_check *c, enum checked_table table,
			  size_t i, uint64_t want, bool at_least)
{
	uint64_t have = c->counts[table][i].now;

	if (have == want || (at_least && have > want))
		return false;
	*c->ret = (struct drop_lack){names[table], dimensions[i].name, have,
				     want};
	return true;
}

static bool some_differ(struct day_check *c, enum checked_table table,
			has_fn *has, uint64_t want)
{
	for (size_t i = 0; i < dimension_count; i++)
		if (has(&dimensions[i]) &&
		    count_differs(c, table, i, want, false))
			return true;
	return false;
}

/* An event counts once for each of its tags.  The tags of the base are known
 * only from the rows that are left, which are not all of them. */
static bool tags_differ(struct day_check *c, enum checked_table table,
			uint64_t tags)
{
	for (size_t i = 0; i < dimension_count; i++) {
		uint64_t base = c->of_base ? 0 : c->counts[table][i].base;

		if (dimensions[i].kind == DIMENSION_MANY &&
		    count_differs(c, table, i, tags + base, c->of_base))
			return true;
	}
	return false;
}

/*
 * Days of links are settled beside the base: they have the later events, too.
 */
static bool links_differ(struct day_check *c, uint64_t want)
{
	return count_differs(c, SEALED_SLOTS, 0, want, false) ||
	       count_differs(c, LINK_SLOTS, 0, want, c->of_base) ||
	       count_differs(c, LINK_DAYS, 0, want, c->of_base);
}

static bool owners_differ(struct day_check *c, uint64_t want)
{
	return count_differs(c, OWNER_SLOTS, 0, want, false) ||
	       some_differ(c, OWNER_VALUES, is_of_owners, want) ||
	       tags_differ(c, OWNER_VALUES, c->rows.tags_of_links);
}

static void find_lacking_table(struct day_check *c)
{
	const struct event_counts *sealed = &c->counts[SEALED_SLOTS][0];
	uint64_t events = c->rows.all + c->counts[STATS_HOURLY][0].base;
	uint64_t of_links = c->rows.of_links + sealed->base;

	if (c->of_base) {
		events = c->events;
		of_links = sealed->now > c->rows.of_links ? sealed->now
							  : c->rows.of_links;
	}
	*c->ret = (struct drop_lack){0};
	if (some_differ(c, STATS_HOURLY, is_of_hours, events) ||
	    tags_differ(c, STATS_HOURLY, c->rows.tags) ||
	    links_differ(c, of_links) || owners_differ(c, of_links))
		return;
	if (!some_differ(c, DAY_VALUES, is_of_days, events))
		some_differ(c, OWNER_VALUES, is_of_days, of_links);
}

/* --- checks ----------------------------------------------------------------
 */

int drop_check_settled(const struct settling *s, int64_t start,
		       uint64_t dropped, const struct drop_attempts *attempts,
		       struct drop_lack *ret, struct error *err)
{
	static const char rows[] = SQL_ROWS_OF("clicks WHERE " SQL_RANGE);
	static const char beside[] = SQL_ROWS_OF(SQL_BESIDE);
	struct day_check c = {.s = s, .attempts = *attempts, .ret = ret};
	int status = set_params(&c, start, dropped, err);

	if (status == 0)
		status = count_rows(&c, dropped ? beside : rows, err);
	if (status == 0)
		status = count_tables(&c, err);
	if (status == 0)
		find_lacking_table(&c);
	settling_params_release(&c.params);
	return status < 0 ? error_wrap(err, "what is settled") : 0;
}

static void take_base(void *arg, const uint64_t *n)
{
	struct day_check *c = arg;

	c->events = n[0];
	c->attempts = (struct drop_attempts){n[1], n[2], n[3]};
}

static int read_base(struct day_check *c, struct error *err)
{
	static const char sql[] =
		"SELECT (SELECT argMax(rows, attempt) FROM settled WHERE "
		"kind = 'dropped_day' AND " SQL_UNIT
		"), " SQL_OF_BASE("base_sealed") ", " SQL_OF_BASE(
			"base_owner") ", " SQL_OF_BASE("base_value") " FORMAT "
								     "TabSepara"
								     "ted";

	return settling_query(c->s->ch, sql, c->params.items, 4, take_base, c,
			      err);
}

int drop_check_base(const struct settling *s, int64_t start, uint64_t dropped,
		    struct drop_lack *ret, uint64_t *ret_rows,
		    struct error *err)
{
	static const char within[] = SQL_ROWS_OF(SQL_WITHIN("dropped"));
	struct day_check c = {.s = s, .of_base = true, .ret = ret};
	int status = set_params(&c, start, dropped, err);

	*ret = (struct drop_lack){0};
	if (status == 0)
		status = count_rows(&c, within, err);
	if (status == 0 && c.rows.all) {
		status = read_base(&c, err);
		if (status == 0)
			status = set_params(&c, start, dropped, err);
		if (status == 0)
			status = count_tables(&c, err);
		if (status == 0)
			find_lacking_table(&c);
	}
	*ret_rows = c.rows.all;
	settling_params_release(&c.params);
	return status < 0 ? error_wrap(err, "what was settled") : 0;
}
