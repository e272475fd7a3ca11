#include "collector/tools/verify/settled.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "collector/tools/verify/clocks.h"
#include "common/clock.h"
#include "schemas/ingest_progress.h"

#define HOUR  3600
#define DAY   86400
#define HOURS (DAY / HOUR)
/* Seconds: a pass has read a batch that was reported this long before the time
 * up to which it read, on any replica. */
#define PASS_MARGIN 120
/* The books are read again when they differ, this often and after this pause:
 * an hour may have been settled between two queries. */
#define LOOKS	 3
#define PAUSE_NS 500000000L

/* The counts by which the aggregator decides what is up to date. */
struct basis {
	bool there;
	uint64_t batches, rows;
};

struct hour {
	struct basis settled, reported;
	bool held_back;	 /* according to the aggregator */
	uint64_t events; /* settled */
	/* The part of reported.rows that a pass recorded as settled. */
	uint64_t promised;
	uint64_t rows, due; /* present counts; due: must be in `events` */
	uint64_t of_links, of_links_due;
};

struct day {
	struct basis settled;
	bool held_back;
	uint64_t slots, visits; /* settled */
};

struct books {
	struct ask *ask;
	const struct settled_snapshot *snapshot;
	int64_t start, end; /* seconds; whole days */
	struct hour *hours;
	struct day *days;
};

#define MISCOUNTED "settled from the same reports, yet not what is there"
#define HELD_BACK                                                              \
	"rows are gone, what was published before stays: see `aggregator "     \
	"settle`"

static const struct {
	const char *table, *name, *text;
} kinds[] = {
	[SETTLED_STATS] = {"stats_hourly", "miscounted", MISCOUNTED},
	[SETTLED_SLOTS] = {"link_slots", "miscounted", MISCOUNTED},
	[SETTLED_VISITS] = {"link_days", "miscounted", MISCOUNTED},
	[SETTLED_NEVER] = {"-", "never reported",
			   "no collector reported these rows"},
	[SETTLED_OVERDUE] = {"stats_hourly", "overdue",
			     "reported before a pass that settled all, and not "
			     "settled: try `aggregator settle`"},
	[SETTLED_HELD_BACK_HOUR] = {"stats_hourly", "held back", HELD_BACK},
	[SETTLED_HELD_BACK_DAY] = {"link_slots", "held back", HELD_BACK},
};

const char *settled_table(enum settled_what what)
{
	return kinds[what].table;
}

const char *settled_name(enum settled_what what)
{
	return kinds[what].name;
}

const char *settled_text(enum settled_what what)
{
	return kinds[what].text;
}

void settled_free(struct settled *s)
{
	free(s->list);
	*s = (struct settled){0};
}

/* --- read ----------------------------------------------------------------- */

/* Appends " unit >= ... AND unit < ...", for a column of DateTime. */
static void put_range(struct books *b, const char *column)
{
	buf_printf(&b->ask->sql,
		   " %s >= toDateTime(%" PRId64 ", 'UTC') AND %s < "
		   "toDateTime(%" PRId64 ", 'UTC')",
		   column, b->start, column, b->end);
}

static struct hour *hour_at(struct books *b, uint64_t start)
{
	return (int64_t)start >= b->start && (int64_t)start < b->end
		       ? &b->hours[((int64_t)start - b->start) / HOUR]
		       : NULL;
}

static struct day *day_at(struct books *b, uint64_t start)
{
	return (int64_t)start >= b->start && (int64_t)start < b->end
		       ? &b->days[((int64_t)start - b->start) / DAY]
		       : NULL;
}

/* A single query sees both tables at about one time. */
static int read_hours(struct books *b, struct error *err)
{
	struct buf *sql = ask_begin(b->ask);
	struct hour *h;
	const uint64_t *n;
	size_t count;

	buf_puts(sql, "SELECT toUInt64(toUnixTimestamp(s.unit)), s.b, s.r, "
		      "t.e FROM (SELECT unit, max(attempt) AS a, "
		      "argMax(blocks, attempt) AS b, argMax(rows, attempt) AS "
		      "r FROM settled WHERE kind = 'hour' AND");
	put_range(b, "unit");
	buf_puts(sql, " GROUP BY unit) AS s LEFT JOIN (SELECT hour, attempt, "
		      "sum(events) AS e FROM stats_hourly WHERE dimension = "
		      "'total' AND");
	put_range(b, "hour");
	buf_puts(sql, " GROUP BY hour, attempt) AS t ON s.unit = t.hour AND "
		      "s.a = t.attempt");
	if (ask_numbers(b->ask, 4, &n, &count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++, n += 4) {
		h = hour_at(b, n[0]);
		if (!h)
			continue;
		h->settled = (struct basis){true, n[1], n[2]};
		h->events = n[3];
	}
	return 0;
}

static int read_days(struct books *b, struct error *err)
{
	struct buf *sql = ask_begin(b->ask);
	struct day *d;
	const uint64_t *n;
	size_t count;

	buf_puts(sql, "SELECT toUInt64(toUnixTimestamp(s.unit)), s.b, s.r, "
		      "c.n, v.n FROM (SELECT unit, max(attempt) AS a, "
		      "argMax(blocks, attempt) AS b, argMax(rows, attempt) AS "
		      "r FROM settled WHERE kind = 'link_day' AND");
	put_range(b, "unit");
	buf_puts(sql, " GROUP BY unit) AS s LEFT JOIN (SELECT "
		      "toStartOfDay(slot, 'UTC') AS d, attempt, "
		      "sum(effective + ineffective) AS n FROM link_slots "
		      "WHERE");
	put_range(b, "slot");
	buf_puts(sql, " GROUP BY d, attempt) AS c ON s.unit = c.d AND s.a = "
		      "c.attempt LEFT JOIN (SELECT toDateTime(day, 'UTC') AS "
		      "d, attempt, sumIf(pv, part IN ('sole', 'whole')) AS n "
		      "FROM link_days WHERE");
	put_range(b, "d");
	buf_puts(sql, " GROUP BY d, attempt) AS v ON s.unit = v.d AND s.a = "
		      "v.attempt");
	if (ask_numbers(b->ask, 5, &n, &count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++, n += 5) {
		d = day_at(b, n[0]);
		if (!d)
			continue;
		d->settled = (struct basis){true, n[1], n[2]};
		d->slots = n[3];
		d->visits = n[4];
	}
	return 0;
}

/* Reads what the aggregator holds back.  Attempts that it has published since,
 * or from the same batches, are not held back. */
static int read_held_back(struct books *b, struct error *err)
{
	struct buf *sql = ask_begin(b->ask);
	struct hour *h;
	struct day *d;
	const uint64_t *n;
	size_t count;

	buf_puts(sql, "WITH kind IN ('held_hour', 'held_day') AS is_held "
		      "SELECT toUInt64(toUnixTimestamp(unit)), "
		      "toUInt64(kind IN ('hour', 'held_hour')) AS hourly "
		      "FROM settled WHERE kind IN ('hour', 'held_hour', "
		      "'link_day', 'held_day') AND");
	put_range(b, "unit");
	buf_puts(sql, " GROUP BY unit, hourly HAVING maxIf(attempt, is_held) > "
		      "maxIf(attempt, NOT is_held) AND "
		      "argMaxIf((blocks, rows), attempt, is_held) != "
		      "argMaxIf((blocks, rows), attempt, NOT is_held)");
	if (ask_numbers(b->ask, 2, &n, &count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++, n += 2) {
		h = n[1] ? hour_at(b, n[0]) : NULL;
		d = n[1] ? NULL : day_at(b, n[0]);
		if (h)
			h->held_back = true;
		if (d)
			d->held_back = true;
	}
	return 0;
}

static int read_reported(struct books *b, struct error *err)
{
	struct buf *sql = ask_begin(b->ask);
	struct hour *h;
	const uint64_t *n;
	size_t count;

	/* A pass with a time in the future proves nothing. */
	buf_printf(sql,
		   "WITH (SELECT argMax(read_until, attempt) FROM settled "
		   "WHERE kind = 'pass') AS passed "
		   "SELECT toUInt64(h), sum(times), sum(n_block), "
		   "sumIf(n_block, seen < passed - toIntervalSecond(%d) "
		   "AND passed <= " CLOCKS_LIMIT ") FROM "
		   "(SELECT h, epoch, topic, partition, first, last, "
		   "count() AS times, max(n) AS n_block, "
		   "max(inserted_at) AS seen FROM ingest_progress "
		   "ARRAY JOIN mapKeys(hours) AS h, mapValues(hours) AS n "
		   "WHERE inserted_at >= fromUnixTimestamp64Milli(toInt64("
		   "%" PRId64 "), 'UTC') AND h >= %" PRId64 " AND h < %" PRId64
		   " GROUP BY h, epoch, topic, partition, first, last) "
		   "GROUP BY h",
		   PASS_MARGIN,
		   b->start > PROGRESS_EARLY
			   ? (b->start - PROGRESS_EARLY) * 1000
			   : 0,
		   b->start, b->end);
	if (ask_numbers(b->ask, 4, &n, &count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++, n += 4) {
		h = hour_at(b, n[0]);
		if (!h)
			continue;
		h->reported = (struct basis){true, n[1], n[2]};
		h->promised = n[3];
	}
	return 0;
}

/* Appends a condition for rows that were certainly stored before the books were
 * read. */
static void put_due(struct books *b)
{
	const struct settled_snapshot *s = b->snapshot;
	struct buf *sql = &b->ask->sql;

	buf_printf(sql,
		   "NOT (topic = {topic:String} AND partition < %zu AND "
		   "epoch = arrayElement(CAST([",
		   s->partitions);
	for (size_t i = 0; i < s->partitions; i++)
		buf_printf(sql, "%s%" PRIu32, i ? "," : "", s->epochs[i]);
	buf_puts(sql, "], 'Array(UInt32)'), partition + 1) AND offset >= "
		      "arrayElement(CAST([");
	for (size_t i = 0; i < s->partitions; i++)
		buf_printf(sql, "%s%" PRIu64, i ? "," : "", s->due[i]);
	buf_puts(sql, "], 'Array(UInt64)'), partition + 1))");
}

static int count_rows(struct books *b, struct error *err)
{
	struct buf *sql = ask_begin(b->ask);
	struct hour *h;
	const uint64_t *n;
	size_t count;

	buf_puts(sql, "SELECT toUInt64(intDiv(toUnixTimestamp(ts), 3600) * "
		      "3600) AS h, count(), countIf(due), countIf(link_id != "
		      "0), countIf(link_id != 0 AND due) FROM (SELECT ts, "
		      "link_id, ");
	put_due(b);
	buf_printf(sql,
		   " AS due FROM clicks WHERE ts >= toDateTime64(toUInt32("
		   "%" PRId64 "), 3, 'UTC') AND ts < toDateTime64(toUInt32("
		   "%" PRId64 "), 3, 'UTC')) GROUP BY h",
		   b->start, b->end);
	if (ask_numbers(b->ask, 5, &n, &count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++, n += 5) {
		h = hour_at(b, n[0]);
		if (!h)
			continue;
		h->rows = n[1];
		h->due = n[2];
		h->of_links = n[3];
		h->of_links_due = n[4];
	}
	return 0;
}

/* --- comparison ----------------------------------------------------------- */

static int add_difference(struct settled *s, enum settled_what what,
			  int64_t start, uint64_t rows, uint64_t counted,
			  struct error *err)
{
	size_t room = s->room ? s->room * 2 : 16;
	struct settled_difference *list = s->list;

	if (!list || s->count == s->room) {
		list = realloc(list, room * sizeof(*list));
		if (!list)
			return error_set_nomem(err);
		s->list = list;
		s->room = room;
	}
	list[s->count++] =
		(struct settled_difference){what, start, rows, counted};
	return 0;
}

static bool is_current(const struct basis *settled,
		       const struct basis *reported)
{
	return settled->there && settled->batches == reported->batches &&
	       settled->rows == reported->rows;
}

/* Returns whether a count lies between the rows that were certainly there and
 * the present rows. */
static bool is_count_in_range(uint64_t counted, uint64_t due, uint64_t rows)
{
	return counted >= due && counted <= rows;
}

static uint64_t count_lost_rows(uint64_t reported, uint64_t rows)
{
	return reported > rows ? reported - rows : 0;
}

/* Returns whether the aggregator holds this hour back, or will do so: there are
 * fewer rows than were settled, or more of the reported rows are gone than
 * before. */
static bool is_short(const struct hour *h)
{
	return h->settled.there &&
	       (h->events > h->rows ||
		count_lost_rows(h->reported.rows, h->rows) >
			count_lost_rows(h->settled.rows, h->events));
}

static int compare_stale_hour(const struct hour *h, int64_t start,
			      struct settled *s, struct error *err)
{
	if (h->held_back || is_short(h))
		return add_difference(s, SETTLED_HELD_BACK_HOUR, start, h->rows,
				      h->events, err);
	if (h->promised > h->settled.rows)
		return add_difference(s, SETTLED_OVERDUE, start, h->promised,
				      h->settled.rows, err);
	s->hours_waiting++;
	if (!s->oldest_waiting)
		s->oldest_waiting = start;
	return 0;
}

static int compare_hour(const struct hour *h, int64_t start, struct settled *s,
			struct error *err)
{
	if (!h->settled.there && !h->reported.there)
		return h->due ? add_difference(s, SETTLED_NEVER, start, h->due,
					       0, err)
			      : 0;
	if (!is_current(&h->settled, &h->reported))
		return compare_stale_hour(h, start, s, err);
	if (!is_count_in_range(h->events, h->due, h->rows))
		return add_difference(s, SETTLED_STATS, start, h->rows,
				      h->events, err);
	s->hours++;
	return 0;
}

/* Rows without a link are in no table of links. */
static int compare_day(const struct day *d, const struct hour *hours,
		       int64_t start, struct settled *s, struct error *err)
{
	struct basis sum = {0};
	uint64_t rows = 0, due = 0;
	bool current = true;

	for (int i = 0; i < HOURS; i++) {
		const struct hour *h = &hours[i];

		sum.batches += h->settled.batches;
		sum.rows += h->settled.rows;
		rows += h->of_links;
		due += h->of_links_due;
		if (h->reported.there && !is_current(&h->settled, &h->reported))
			current = false;
	}
	if (!d->settled.there && !d->held_back && !rows)
		return 0;
	if (!current || !is_current(&d->settled, &sum)) {
		if (d->held_back || d->slots > rows || d->visits > rows)
			return add_difference(s, SETTLED_HELD_BACK_DAY, start,
					      rows, d->slots, err);
		s->days_waiting++;
		return 0;
	}
	if (!is_count_in_range(d->slots, due, rows) &&
	    add_difference(s, SETTLED_SLOTS, start, rows, d->slots, err) < 0)
		return -1;
	if (!is_count_in_range(d->visits, due, rows) &&
	    add_difference(s, SETTLED_VISITS, start, rows, d->visits, err) < 0)
		return -1;
	s->days += is_count_in_range(d->slots, due, rows) &&
		   is_count_in_range(d->visits, due, rows);
	return 0;
}

static int read_and_compare_books(struct books *b, struct settled *s,
				  struct error *err)
{
	size_t days = (size_t)((b->end - b->start) / DAY);

	memset(b->hours, 0, days * HOURS * sizeof(*b->hours));
	memset(b->days, 0, days * sizeof(*b->days));
	/* The rows are counted last: by then all settled rows are stored. */
	if (read_days(b, err) < 0 || read_hours(b, err) < 0 ||
	    read_held_back(b, err) < 0 || read_reported(b, err) < 0 ||
	    count_rows(b, err) < 0)
		return -1;
	s->compared = true;
	for (size_t i = 0; i < days * HOURS; i++)
		if (compare_hour(&b->hours[i], b->start + (int64_t)i * HOUR, s,
				 err) < 0)
			return -1;
	for (size_t i = 0; i < days; i++)
		if (compare_day(&b->days[i], &b->hours[i * HOURS],
				b->start + (int64_t)i * DAY, s, err) < 0)
			return -1;
	return 0;
}

int settled_check(struct ask *a, const struct settled_snapshot *snapshot,
		  int64_t from, int64_t to, struct settled *ret,
		  struct error *err)
{
	struct books b = {
		.ask = a,
		.snapshot = snapshot,
		.start = from / CLOCK_DAY * DAY,
		.end = (to + CLOCK_DAY - 1) / CLOCK_DAY * DAY,
	};
	size_t days = (size_t)((b.end - b.start) / DAY);
	int status = -1;

	b.hours = calloc(days * HOURS, sizeof(*b.hours));
	b.days = calloc(days, sizeof(*b.days));
	if (!b.hours || !b.days)
		error_set_nomem(err);
	else
		status = read_and_compare_books(&b, ret, err);
	/* An hour may have been settled between two queries. */
	for (int i = 1; status == 0 && ret->count && i < LOOKS; i++) {
		nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
		settled_free(ret);
		status = read_and_compare_books(&b, ret, err);
	}
	free(b.hours);
	free(b.days);
	return status;
}
