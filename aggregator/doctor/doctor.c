#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "aggregator/aggregator_config.h"
#include "aggregator/commands.h"
#include "aggregator/doctor/differences.h"
#include "aggregator/doctor/dropped_rows.h"
#include "aggregator/doctor/forgotten_rows.h"
#include "aggregator/doctor/not_counted.h"
#include "aggregator/doctor/unfinished_runs.h"
#include "aggregator/migrate/migrate.h"
#include "aggregator/reconcile/reconcile.h"
#include "aggregator/settle/day_attempts.h"
#include "aggregator/settle/drop.h"
#include "aggregator/settle/owner_days.h"
#include "aggregator/settle/rollups.h"
#include "aggregator/settle/seal.h"
#include "aggregator/settle/value_days.h"
#include "aggregator/settle/watermark_reader.h"
#include "aggregator/zone/civil.h"
#include "common/clickhouse/rows.h"
#include "common/clock.h"

/*
 * `aggregator doctor`: one page that says what is behind, what is unsealed and
 * what disagrees.  It reads only, from ClickHouse only, and needs no aggregator
 * to run.
 */

enum {
	HOUR = 3600, /* seconds */
	RECONCILED_HOURS = 24,
	DAYS_SHOWN = 5,
	AGAIN_MS = 3000, /* until differences are asked for again */
};

/* What is older is behind. */
#define WATERMARK_AGE (5 * CLOCK_MINUTE)
#define DAY_AGE	      (6 * CLOCK_HOUR) /* beyond when it is due */

enum level {
	FINE,
	BEHIND, /* goes on by itself, or does not go on */
	WRONG,	/* does not go away by itself */
};

struct doctor {
	struct app *app;
	struct clickhouse *ch;
	const struct aggregator_settings *settings;
	struct settling settling; /* for its clock */
	struct progress published;
	enum level worst;
};

static void say(struct doctor *d, enum level level, const char *what,
		const char *fmt, ...) __attribute__((format(printf, 4, 5)));

static void say(struct doctor *d, enum level level, const char *what,
		const char *fmt, ...)
{
	static const char *const names[] = {"ok", "behind", "WRONG"};
	va_list args;

	printf("%-7s %-15s ", names[level], what);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
	if (level > d->worst)
		d->worst = level;
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* --- up to when ------------------------------------------------------------
 */

/* It stays before an hour that cannot be settled, whatever partitions promise
 * beyond. */
static bool waits_for_hour(const struct doctor *d,
			   const struct watermark *reported)
{
	int64_t until = d->published.complete_until;

	return until && until % CLOCK_HOUR == 0 &&
	       reported->complete_until - d->settings->clicks.edge_delay >
		       until + WATERMARK_AGE;
}

static void say_watermark(struct doctor *d, const struct watermark *reported)
{
	int64_t until = d->published.complete_until;
	int64_t age = reported->server_ms - until;
	char text[RFC3339_TEXT_MAX], waits[320] = "";

	if (waits_for_hour(d, reported))
		snprintf(waits, sizeof(waits),
			 "; it waits for the hour that begins then, which is "
			 "not settled: the aggregator's log says why");
	else if (*reported->topic)
		snprintf(waits, sizeof(waits),
			 "; it waits for partition %" PRIu32 " of %s%s",
			 reported->partition, reported->topic,
			 reported->complete_until
				 ? ""
				 : ", which has reported nothing");
	if (!until)
		say(d, BEHIND, "watermark", "not known%s", waits);
	else if (age < 0)
		say(d, WRONG, "watermark",
		    "%s, beyond ClickHouse's clock; see 'aggregator watermark'",
		    rfc3339_format(until, text));
	else
		say(d, age > WATERMARK_AGE ? BEHIND : FINE, "watermark",
		    "complete until %s, %" PRId64 " s ago%s",
		    rfc3339_format(until, text), age / 1000, waits);
}

/* Of topics that nobody has to wait for any more only the operator knows. */
static void say_silent(struct doctor *d, const struct watermark *reported)
{
	char text[RFC3339_TEXT_MAX];

	if (reported->silent_since)
		say(d, BEHIND, "topics",
		    "nothing was heard of %s since %s, though others reported: "
		    "do its collectors run? If none reads it any more, name it "
		    "in aggregator.retired_topics",
		    reported->topic,
		    rfc3339_format(reported->silent_since, text));
	else
		say(d, FINE, "topics", "none that is waited for is silent");
}

static int look_at_watermark(struct doctor *d, struct error *err)
{
	struct watermark_reader *reader;
	struct watermark reported;
	int status = -1;

	reader = watermark_reader_new(d->settings, err);
	if (reader)
		status = watermark_read(reader, d->ch, d->published.mended,
					&reported, err);
	watermark_reader_free(reader);
	if (status < 0)
		return -1;
	say_watermark(d, &reported);
	say_silent(d, &reported);
	if (reported.ahead_ms > CLOCK_MINUTE)
		say(d, WRONG, "clocks",
		    "times reported in the last ten minutes lie up to %" PRId64
		    " s beyond ClickHouse's clock",
		    reported.ahead_ms / 1000);
	else
		say(d, FINE, "clocks", "none is ahead of ClickHouse's");
	return 0;
}

/* --- what is to be settled -------------------------------------------------
 */

/* How long ago anything was settled, in ms; -1: nothing ever was.  A time to
 * come was told by a clock that was ahead, and tells nothing. */
static int read_idle(struct doctor *d, int64_t *ret_ms, struct error *err)
{
	static const char sql[] =
		"SELECT toUnixTimestamp64Milli(max(settled_at)), count() "
		"FROM settled WHERE settled_at <= now64(3, 'UTC') "
		"FORMAT TabSeparated";
	uint64_t n[2] = {0};
	int64_t idle;

	if (clickhouse_numbers(d->ch, sql, NULL, n, 2, err) < 0)
		return error_wrap(err, "settled");
	idle = settling_now(&d->settling) - (int64_t)n[0];
	if (idle < 0)
		idle = 0;
	*ret_ms = n[1] ? idle : -1;
	return 0;
}

static int look_at_hours(struct doctor *d, const struct stale_list *stale,
			 struct error *err)
{
	int64_t idle = -1,
		patience = 4 * d->settings->settle_every + CLOCK_MINUTE;
	char first[CIVIL_NAME_MAX];

	if (read_idle(d, &idle, err) < 0)
		return -1;
	if (!stale->count) {
		say(d, FINE, "hours", "all that were reported are settled");
		return 0;
	}
	civil_hour_name(stale->items[0].start, first);
	if (idle < 0 || idle > patience)
		say(d, BEHIND, "hours",
		    "%zu to be settled, from %s on, and nobody settles: is an "
		    "aggregator running?",
		    stale->count, first);
	else
		say(d, FINE, "hours", "%zu to be settled, from %s on",
		    stale->count, first);
	return 0;
}

/* "[...]": the starts of those that were settled before. */
static void put_settled_before(struct buf *list, const struct stale_list *days)
{
	const char *comma = "";

	buf_putc(list, '[');
	for (size_t i = 0; i < days->count; i++) {
		if (!days->items[i].was)
			continue;
		buf_printf(list, "%s%" PRId64, comma, days->items[i].start);
		comma = ",";
	}
	buf_putc(list, ']');
}

/* How many of these days have an hour that was settled since they were, so long
 * ago that they were to follow. */
static int count_overdue(struct doctor *d, struct buf *days, uint64_t *ret,
			 struct error *err)
{
	static const char sql[] =
		"SELECT countIf(since <= now64(3, 'UTC') - "
		"toIntervalMillisecond({longest:Int64})) FROM (SELECT "
		"intDiv(toUInt32(unit), 86400) * 86400 AS d, "
		"maxIf(attempt, kind = 'link_day') AS n_day, "
		"arrayMin(arrayMap(h -> if(h.1 > n_day, h.2, "
		"now64(3, 'UTC')), groupArrayIf((attempt, settled_at), "
		"kind = 'hour'))) AS since FROM settled "
		"WHERE kind IN ('hour', 'link_day') "
		"GROUP BY d HAVING has({days:Array(UInt32)}, d)) "
		"FORMAT TabSeparated";
	char longest[24];
	const struct clickhouse_param params[] = {
		{"param_longest", longest},
		{"param_days", buf_cstr(days)},
		{NULL, NULL}};

	if (!params[1].value)
		return error_set_nomem(err);
	snprintf(longest, sizeof(longest), "%" PRId64,
		 d->settings->resettle_every + DAY_AGE);
	if (clickhouse_numbers(d->ch, sql, params, ret, 1, err) < 0)
		return error_wrap(err, "settled days");
	return 0;
}

/* Those that are held back have a line of their own. */
static int read_overdue(struct doctor *d, int64_t closed_before, uint64_t *ret,
			struct error *err)
{
	struct stale_list stale;
	struct buf days = {0};
	int status = 0;

	*ret = 0;
	if (progress_stale_days(d->ch, closed_before, INT64_MAX / 2, false,
				&stale, err) < 0)
		return -1;
	put_settled_before(&days, &stale);
	if (stale.count)
		status = count_overdue(d, &days, ret, err);
	buf_free(&days);
	stale_list_release(&stale);
	return status;
}

static void say_days(struct doctor *d, const struct stale_list *stale,
		     uint64_t overdue)
{
	char first[CIVIL_NAME_MAX];
	uint64_t fresh = 0;

	for (size_t i = 0; i < stale->count; i++)
		fresh += !stale->items[i].was;
	if (!stale->count)
		say(d, FINE, "days", "all that have ended are settled");
	else
		say(d, fresh || overdue ? BEHIND : FINE, "days",
		    "%zu to be settled, from %s on, %" PRIu64
		    " of them for the first time, %" PRIu64
		    " with late clicks that waited for longer than %d hours",
		    stale->count, civil_day_name(stale->items[0].start, first),
		    fresh, overdue, (int)(DAY_AGE / CLOCK_HOUR));
}

static int look_at_days(struct doctor *d, struct error *err)
{
	int64_t closed_before =
		settling_now(&d->settling) - d->settings->day_grace - DAY_AGE;
	struct stale_list stale;
	uint64_t overdue = 0;
	int status = 0;

	if (progress_stale_days(d->ch, closed_before, INT64_MAX / 2, true,
				&stale, err) < 0)
		return -1;
	if (stale.count)
		status = read_overdue(d, closed_before, &overdue, err);
	if (status == 0)
		say_days(d, &stale, overdue);
	stale_list_release(&stale);
	return status;
}

static int look_at_held(struct doctor *d, struct error *err)
{
	struct held_back held;
	char first[CIVIL_NAME_MAX];

	if (progress_held_back(d->ch, &held, err) < 0)
		return -1;
	if (held.hours || held.days)
		say(d, WRONG, "held back",
		    "%" PRIu64 " hour%s and %" PRIu64
		    " day%s, from %s on: rows that were settled are gone; see "
		    "'aggregator settle'",
		    held.hours, plural(held.hours), held.days,
		    plural(held.days), civil_hour_name(held.first, first));
	else
		say(d, FINE, "held back", "nothing");
	return 0;
}

/* The days that have late clicks, and are settled with them before they are
 * copied; *ret. */
static int count_before_copy(struct doctor *d, const struct day_copy_kind *kind,
			     int64_t due, uint64_t *ret, struct error *err)
{
	char closed[24];
	const struct clickhouse_param params[] = {{"param_closed", closed},
						  {NULL, NULL}};
	struct buf sql = {0};
	int status;

	snprintf(closed, sizeof(closed), "%" PRId64,
		 settling_now(&d->settling) - CLOCK_DAY - due);
	buf_printf(&sql,
		   "SELECT count() FROM " SQL_DAY_ATTEMPTS
		   "WHERE n_day > 0 AND n_hour > n_day AND %s AND "
		   "toInt64(d) * 1000 <= {closed:Int64} FORMAT TabSeparated",
		   kind->which);
	status = buf_cstr(&sql) ? clickhouse_numbers(d->ch, sql.data, params,
						     ret, 1, err)
				: error_set_nomem(err);
	buf_free(&sql);
	return status;
}

static int look_at_copy(struct doctor *d, const char *what, const char *done,
			const struct day_copy_kind *kind, struct error *err)
{
	/* How long after a day's end (ms) it is to be done. */
	int64_t due = kind->when_late ? d->settings->clicks.late_window
				      : d->settings->day_grace;
	char text[CIVIL_NAME_MAX], others[64] = "";
	uint64_t days, before = 0;
	int64_t first, since;

	if (day_copy_pending(&d->settling, kind, &days, &first, err) < 0 ||
	    count_before_copy(d, kind, due, &before, err) < 0)
		return -1;
	if (before)
		snprintf(others, sizeof(others),
			 "; %" PRIu64 " with late clicks to be settled before",
			 before);
	since = (first + CLOCK_DAY / 1000) * 1000 + due;
	if (!days)
		say(d, FINE, what, "no day waits for it%s", others);
	else
		say(d,
		    settling_now(&d->settling) > since + DAY_AGE ? BEHIND
								 : FINE,
		    what, "%" PRIu64 " day%s to be %s, from %s on%s", days,
		    plural(days), done, civil_day_name(first, text), others);
	return 0;
}

static int look_at_copies(struct doctor *d, struct error *err)
{
	return look_at_copy(d, "sealing", "sealed", &sealed_days, err) < 0 ||
			       look_at_copy(d, "owners' days", "copied",
					    &owner_days, err) < 0 ||
			       look_at_copy(d, "days' values", "copied",
					    &value_days, err) < 0 ||
			       look_at_copy(d, "rollups", "rolled up",
					    &rolled_days, err) < 0
		       ? -1
		       : 0;
}

struct old_days {
	int64_t first; /* of those that wait; seconds since 1970 */
	uint64_t waiting, ready;
};

static int count_old(void *arg, const struct old_day *day, struct error *err)
{
	struct old_days *old = arg;

	(void)err;
	if (day->dropped)
		return 0;
	if (day->sealed && day->settled)
		old->ready++;
	else if (!old->waiting++)
		old->first = day->start;
	return 0;
}

static int look_at_retention(struct doctor *d, struct error *err)
{
	struct old_days old = {0};
	struct progress last;
	char text[CIVIL_NAME_MAX];

	if (!d->settings->raw_days) {
		say(d, FINE, "retention", "rows of clicks are kept for ever");
		return 0;
	}
	if (progress_read_last(d->ch, &last, err) < 0 ||
	    drop_for_each_old(&d->settling, &last, count_old, &old, err) < 0)
		return -1;
	if (old.waiting)
		say(d, BEHIND, "retention",
		    "%" PRIu64 " day%s older than raw_days cannot be dropped, "
		    "from %s on: see 'aggregator retention --dry-run'",
		    old.waiting, plural(old.waiting),
		    civil_day_name(old.first, text));
	else
		say(d, FINE, "retention", "%" PRIu64 " day%s to be dropped",
		    old.ready, plural(old.ready));
	return 0;
}

static int look_at_dropped(struct doctor *d, struct error *err)
{
	struct dropped_rows dropped;
	char first[CIVIL_NAME_MAX];

	if (dropped_rows_find(&d->settling, &dropped, err) < 0)
		return -1;
	if (dropped.days)
		say(d, BEHIND, "dropped rows",
		    "rows of %" PRIu64 " dropped day%s, from %s on, were to be "
		    "deleted and are still there: the aggregator's log says "
		    "why",
		    dropped.days, plural(dropped.days),
		    civil_day_name(dropped.first, first));
	else
		say(d, FINE, "dropped rows", "none is still there");
	return 0;
}

/* --- runs that were killed --------------------------------------------------
 */

struct runs {
	struct doctor *d;
	uint64_t over, going;
};

static int take_run(void *arg, const struct unfinished_run *run,
		    struct error *err)
{
	struct runs *runs = arg;
	char day[CIVIL_NAME_MAX];

	(void)err;
	if (!run->is_over) {
		runs->going++;
		return 0;
	}
	if (runs->over++ < DAYS_SHOWN)
		say(runs->d, WRONG, "runs",
		    "%s: %s began to change it and did not end; until '%s' "
		    "ends that, the day is not dropped",
		    civil_day_name(run->day, day), run->host,
		    run->is_rescore ? "collector rescore"
				    : "aggregator forget");
	return 0;
}

static int look_at_runs(struct doctor *d, struct error *err)
{
	struct runs runs = {.d = d};

	if (unfinished_runs_for_each(d->ch, d->settings, take_run, &runs, err) <
	    0)
		return -1;
	if (runs.over > DAYS_SHOWN)
		say(d, WRONG, "runs", "and %" PRIu64 " more",
		    runs.over - DAYS_SHOWN);
	if (!runs.over)
		say(d, FINE, "runs",
		    "none was left by who began it, %" PRIu64 " under way",
		    runs.going);
	return 0;
}

/* --- what disagrees --------------------------------------------------------
 */

static bool is_stale(const struct stale_list *hours, int64_t day)
{
	for (size_t i = 0; i < hours->count; i++)
		if (hours->items[i].start >= day &&
		    hours->items[i].start < day + CLOCK_DAY / 1000)
			return true;
	return false;
}

/* A line of the page. */
struct comparison {
	enum compared kind;
	const char *what, *one, *other;
};
static const struct comparison comparisons[] = {
	{COMPARED_ROWS, "rows", "rows of clicks", "events in hours"},
	{COMPARED_HOUR_VALUES, "hours' values", "events in hours",
	 "events by each dimension"},
	{COMPARED_LINK_SLOTS, "links' slots", "visits in days",
	 "visits in slots"},
	{COMPARED_SEALED, "sealed days", "visits in days", "events sealed"},
	{COMPARED_OWNERS, "owners' rows", "visits in days", "events of owners"},
	{COMPARED_OWNER_VALUES, "owners' values", "visits in days",
	 "events of owners by each dimension"},
	{COMPARED_OWNER_DAILY, "owners' daily", "visits in days",
	 "events of owners by those of days"},
	{COMPARED_VALUES, "values' rows", "events in hours",
	 "events of values"},
	{COMPARED_ROLLUPS, "rolled up", "events in hours", "events rolled up"},
};

/* " in city and 4 dimensions more" */
static void name_dimensions(const struct difference *it, char ret[96])
{
	*ret = '\0';
	if (*it->first && it->dimensions > 1)
		snprintf(ret, 96, " in %s and %" PRIu64 " dimension%s more",
			 it->first, it->dimensions - 1,
			 plural(it->dimensions - 1));
	else if (*it->first)
		snprintf(ret, 96, " in %s", it->first);
}

/* What was settled and is gone is made anew from rows, where these are there.
 */
static void name_remedy(enum compared kind, const struct difference *it,
			char ret[160])
{
	char from[CIVIL_NAME_MAX], to[CIVIL_NAME_MAX];

	if (kind == COMPARED_ROWS && it->one < it->other)
		snprintf(ret, 160, "rows are gone: see 'collector verify'");
	else if (it->dropped)
		snprintf(ret, 160,
			 "the day's rows are dropped: only a backup has it");
	else
		snprintf(ret, 160, "run 'aggregator settle --from %s --to %s'",
			 civil_day_name(it->day, from),
			 civil_day_name(it->day + CLOCK_DAY / 1000, to));
}

static void say_difference(struct doctor *d, const struct comparison *c,
			   const struct difference *it)
{
	char day[CIVIL_NAME_MAX], dimensions[96], remedy[160];

	name_dimensions(it, dimensions);
	name_remedy(c->kind, it, remedy);
	say(d, WRONG, c->what, "%s: %" PRIu64 " %s, %" PRIu64 " %s%s; %s",
	    civil_day_name(it->day, day), it->one, c->one, it->other, c->other,
	    dimensions, remedy);
}

static void say_differences(struct doctor *d, const struct comparison *c,
			    const struct difference_list *list,
			    const struct stale_list *hours)
{
	size_t count = 0;
	char looked[96] = "";

	for (size_t i = 0; i < list->count; i++) {
		if (is_stale(hours, list->items[i].day))
			continue;
		if (count++ < DAYS_SHOWN)
			say_difference(d, c, &list->items[i]);
	}
	if (list->looked < list->partitions)
		snprintf(looked, sizeof(looked),
			 "; in the %" PRIu64 " of %" PRIu64
			 " %s written last (raw_rows_max)",
			 list->looked, list->partitions,
			 list->are_months ? "months" : "days");
	if (count > DAYS_SHOWN)
		say(d, WRONG, c->what, "and %zu more days", count - DAYS_SHOWN);
	if (!count)
		say(d, FINE, c->what, "as many %s as %s, day by day%s", c->one,
		    c->other, looked);
}

/* Clicks that come in while it asks make tables differ for a moment: only what
 * differs by the same numbers some seconds later does. */
static int confirm(struct doctor *d, enum compared kind,
		   struct difference_list *list, struct error *err)
{
	struct difference_list later;
	int status;

	if (app_should_stop(d->app, AGAIN_MS))
		return error_set(err, ERROR_STOPPED, "stopped");
	status = differences_find(d->ch, kind, d->settings->raw_rows_max,
				  &later, err);
	if (status == 0)
		difference_list_keep(list, &later);
	difference_list_release(&later);
	return status;
}

static int compare(struct doctor *d, const struct comparison *c,
		   const struct stale_list *hours, struct error *err)
{
	struct difference_list list;
	int status = differences_find(d->ch, c->kind, d->settings->raw_rows_max,
				      &list, err);

	if (status == 0 && list.count)
		status = confirm(d, c->kind, &list, err);
	if (status == 0)
		say_differences(d, c, &list, hours);
	difference_list_release(&list);
	return status;
}

static int compare_tables(struct doctor *d, const struct stale_list *hours,
			  struct error *err)
{
	for (size_t i = 0; i < sizeof(comparisons) / sizeof(*comparisons); i++)
		if (compare(d, &comparisons[i], hours, err) < 0)
			return -1;
	return 0;
}

/* --- what no count has ------------------------------------------------------
 */

struct short_days {
	struct doctor *d;
	const struct stale_list *hours;
	uint64_t count;
};

static int take_short(void *arg, const struct short_day *day, struct error *err)
{
	struct short_days *days = arg;
	char from[CIVIL_NAME_MAX], to[CIVIL_NAME_MAX];

	(void)err;
	if (is_stale(days->hours, day->start) || days->count++ >= DAYS_SHOWN)
		return 0;
	civil_day_name(day->start, from);
	say(days->d, WRONG, "short",
	    "%s: of %" PRIu64 " rows that collectors reported %" PRIu64
	    " were not there when its hours were settled: see 'collector "
	    "verify'; 'aggregator settle --from %s --to %s' takes it as it is",
	    from, day->reported, day->missing, from,
	    civil_day_name(day->start + CLOCK_DAY / 1000, to));
	return 0;
}

static int look_at_short(struct doctor *d, const struct stale_list *hours,
			 struct error *err)
{
	struct short_days days = {.d = d, .hours = hours};

	if (not_counted_short_days(d->ch, take_short, &days, err) < 0)
		return -1;
	if (days.count > DAYS_SHOWN)
		say(d, WRONG, "short", "and %" PRIu64 " more days",
		    days.count - DAYS_SHOWN);
	if (!days.count)
		say(d, FINE, "short",
		    "no hour was settled from fewer rows than were reported");
	return 0;
}

/* Who sends a dead letter again has it counted; it is told of for a day. */
static int look_at_not_counted(struct doctor *d, struct error *err)
{
	struct not_counted n;

	if (not_counted_read(d->ch, &n, err) < 0)
		return -1;
	say(d,
	    n.lost	      ? WRONG
	    : n.dead_lettered ? BEHIND
			      : FINE,
	    "not counted",
	    "%" PRIu64 " dead letter%s and %" PRIu64
	    " offset%s that Kafka no longer held, in reports of the last 24 "
	    "hours%s",
	    n.dead_lettered, plural(n.dead_lettered), n.lost, plural(n.lost),
	    n.dead_lettered + n.lost ? ": see GET /v1/pipeline" : "");
	return 0;
}

static int look_at_forgotten(struct doctor *d, struct error *err)
{
	struct forgotten_rows f;
	char days[128] = "";

	if (forgotten_rows_find(d->ch, d->settings->raw_rows_max, &f, err) < 0)
		return -1;
	if (f.days_looked < f.days)
		snprintf(days, sizeof(days),
			 "; of visitors, in the %" PRIu64 " of %" PRIu64
			 " days written last (raw_rows_max)",
			 f.days_looked, f.days);
	if (f.clicks || f.archive)
		say(d, WRONG, "forgotten",
		    "%" PRIu64 " row%s of clicks and %" PRIu64
		    " of links have what is forgotten again: run 'aggregator "
		    "forget'%s",
		    f.clicks, plural(f.clicks), f.archive, days);
	else if (f.visitors || f.links)
		say(d, FINE, "forgotten",
		    "%" PRIu64 " visitor%s and %" PRIu64
		    " link%s, in no row of clicks or links%s",
		    f.visitors, plural(f.visitors), f.links, plural(f.links),
		    days);
	else
		say(d, FINE, "forgotten", "nobody is");
	return 0;
}

static void say_reconciled(struct doctor *d, const struct reconciliation *r)
{
	uint64_t lost[LOST_STEPS] = {0}, unknown = 0, told = 0;
	bool any = false;

	for (size_t i = 0; i < r->count; i++) {
		const struct reconciled_hour *h = &r->hours[i];

		told += reconciled_due(h) + h->produced;
		if (h->settling)
			continue;
		if (!reconciled_is_complete(h)) {
			unknown++;
			continue;
		}
		for (enum reconciled_step step = 0; step < LOST_STEPS; step++) {
			int64_t n = reconciled_lost(h, step);

			lost[step] += n > 0 ? (uint64_t)n : 0;
		}
	}
	for (size_t i = 0; i < LOST_STEPS; i++) {
		if (!lost[i])
			continue;
		any = true;
		say(d, WRONG, "events", "%" PRIu64 " lost: %s", lost[i],
		    reconciled_step_names[i]);
	}
	if (unknown && !told)
		say(d, FINE, "events",
		    "redirectors have told nothing: what is lost before Kafka "
		    "is not known (kafka.topic_counters)");
	else if (unknown)
		say(d, BEHIND, "events",
		    "of %" PRIu64 " of the last %d hours redirectors have not "
		    "told all; see GET /v1/reconciliation",
		    unknown, RECONCILED_HOURS);
	else if (!any)
		say(d, FINE, "events",
		    "none lost in what was settled of the last %d hours",
		    RECONCILED_HOURS);
}

/* It is no fault: they are counted, and their hours were settled again. */
static void say_late(struct doctor *d, const struct reconciliation *r)
{
	uint64_t late = 0, stored = 0;
	char delay[DURATION_TEXT_MAX];

	for (size_t i = 0; i < r->count; i++) {
		late += r->hours[i].late;
		stored += r->hours[i].stored;
	}
	say(d, FINE, "late",
	    "%" PRIu64 " of %" PRIu64 " events of these hours came more than "
	    "%s after their time",
	    late, stored,
	    duration_format(d->settings->clicks.edge_delay, delay));
}

static int look_at_events(struct doctor *d, struct error *err)
{
	int64_t to = d->published.complete_until / 1000 / HOUR * HOUR;
	struct reconciliation r;
	int status;

	if (to < RECONCILED_HOURS * HOUR) {
		say(d, FINE, "events", "no hour is settled yet");
		return 0;
	}
	status = reconcile(d->ch, &d->settings->clicks,
			   to - RECONCILED_HOURS * HOUR, to, &r, err);
	if (status == 0) {
		say_reconciled(d, &r);
		say_late(d, &r);
	}
	reconciliation_release(&r);
	return status;
}

/* -------------------------------------------------------------------------- */

/* Rows are compared with hours that were stale before they were: what came in
 * meanwhile is among these. */
static int look(struct doctor *d, struct error *err)
{
	struct stale_list hours = {0};
	int status;

	if (progress_read_last(d->ch, &d->published, err) < 0 ||
	    look_at_watermark(d, err) < 0 ||
	    progress_stale_hours(d->ch, 0, 0, true, &hours, err) < 0)
		return -1;
	status = look_at_hours(d, &hours, err);
	if (status == 0 &&
	    (look_at_days(d, err) < 0 || look_at_held(d, err) < 0 ||
	     look_at_copies(d, err) < 0 || look_at_retention(d, err) < 0 ||
	     look_at_dropped(d, err) < 0 || look_at_runs(d, err) < 0 ||
	     look_at_short(d, &hours, err) < 0 ||
	     look_at_not_counted(d, err) < 0 ||
	     compare_tables(d, &hours, err) < 0 ||
	     look_at_forgotten(d, err) < 0 || look_at_events(d, err) < 0))
		status = -1;
	stale_list_release(&hours);
	return status;
}

static int open_and_look(struct doctor *d,
			 const struct aggregator_config *config,
			 struct error *err)
{
	struct clickhouse_config patient = config->clickhouse;
	int status = -1;

	patient.query_timeout = config->aggregator.settle_timeout;
	d->ch = clickhouse_new(&patient, err);
	if (!d->ch)
		return -1;
	d->settling.ch = d->ch;
	if (settling_read_clock(d->ch, &d->settling.clock, err) == 0 &&
	    migrate_check(d->ch, err) == 0) {
		say(d, FINE, "tables", "all migrations are applied");
		status = look(d, err);
	}
	clickhouse_free(d->ch);
	return status;
}

int aggregator_doctor(struct app *app, const void *arg, struct error *err)
{
	const struct aggregator_config *config = arg;
	struct doctor d = {
		.app = app,
		.settings = &config->aggregator,
		.settling = {.settings = &config->aggregator},
	};

	if (open_and_look(&d, config, err) < 0)
		return error_wrap(err, "doctor");
	return d.worst != FINE;
}
