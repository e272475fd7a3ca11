#include "aggregator/settle/pass.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/settle/days.h"
#include "aggregator/settle/drop.h"
#include "aggregator/settle/drop_months.h"
#include "aggregator/settle/hour_turns.h"
#include "aggregator/settle/open_hours.h"
#include "aggregator/settle/owner_days.h"
#include "aggregator/settle/progress.h"
#include "aggregator/settle/rollups.h"
#include "aggregator/settle/seal.h"
#include "aggregator/settle/table_state.h"
#include "aggregator/settle/watermark_reader.h"
#include "common/clickhouse/rows.h"
#include "common/clock.h"

/* When the tables are as they were when nothing was to be done, it is looked
 * for all the same once in so many settle_every: time makes days due, too. */
#define LOOK_EVERY 4

/* How much two answers of ClickHouse about its clock may differ for the time
 * that asking takes. */
#define JITTER_MS 1000

/* What is done with one day at a time, in this order. */
enum day_step {
	DAY_SETTLED,
	DAY_SEALED,
	DAY_COPIED,
	DAY_ROLLED_UP,
	DAY_DROPPED,
	DAY_STEPS
};

struct pass {
	const struct aggregator_settings *settings;
	struct clickhouse *ch;
	struct lease *lease;
	bool (*stopping)(void *arg);
	void (*on_shortage)(void *arg, const struct shortage *s);
	void *arg;
	struct settling settling;
	struct watermark_reader *watermark;
	struct open_hours *open;
	struct hour_turns turns;
	bool everything; /* in this pass */
	bool found;	 /* there was something to do, or to hold back */
	bool quiet; /* nothing is to be done in this pass, as in the last */
	/* Before the last pass that looked; known if it found nothing at all.
	 */
	struct table_state nothing_at;
	struct held_back held; /* by it */
	int64_t look_at;       /* monotonic ms of the next that does */
	bool held_days;	       /* days that are held back are tried again */
	bool stale_days;       /* more of them are to be settled than one */
	/* The last day that was looked at; -1: begin with the first. */
	int64_t after[DAY_STEPS];
	/* Monotonic ms of the next recheck of everything, and of the next
	 * cleaning. */
	int64_t recheck_at;
	int64_t clean_at, clean_open_at;
	/* The first hour (seconds) that the last recheck could not settle, of
	 * those that the watermark waits for: other passes need not list it.
	 * INT64_MAX: none. */
	int64_t left_from;
	/* Since ClickHouse's clock went back, blocks of present hours may have
	 * been reported at this time (ms) or later; INT64_MAX: it has not gone
	 * back. */
	int64_t back_to;
};

static int check_lease(void *arg, struct error *err)
{
	struct pass *p = arg;
	bool owned = false;

	if (lease_acquire(p->lease, &owned, err) < 0)
		return -1;
	if (!owned)
		return error_set_retriable(err, ERROR_STOPPED,
					   "another aggregator took the lease");
	return 0;
}

static bool is_stopping(void *arg)
{
	struct pass *p = arg;

	return p->stopping(p->arg);
}

static void on_shortage(void *arg, const struct shortage *s)
{
	struct pass *p = arg;

	p->on_shortage(p->arg, s);
}

struct pass *pass_new(const struct aggregator_settings *settings,
		      struct clickhouse *ch, struct lease *lease,
		      bool (*stopping)(void *arg),
		      void (*shortage)(void *arg, const struct shortage *s),
		      void *arg, struct error *err)
{
	struct pass *p = calloc(1, sizeof(*p));

	if (!p) {
		error_set_nomem(err);
		return NULL;
	}
	p->watermark = watermark_reader_new(settings, err);
	p->open = p->watermark ? open_hours_new(err) : NULL;
	if (!p->open) {
		pass_free(p);
		return NULL;
	}
	p->settings = settings;
	p->ch = ch;
	p->lease = lease;
	p->stopping = stopping;
	p->on_shortage = shortage;
	p->arg = arg;
	p->settling = (struct settling){
		.ch = ch,
		.settings = settings,
		.settler = lease_holder(lease),
		.is_stopping = is_stopping,
		.check_lease = check_lease,
		.on_shortage = on_shortage,
		.arg = p,
	};
	p->clean_at = clock_monotonic_ms() + settings->clean_every;
	p->back_to = INT64_MAX;
	p->left_from = INT64_MAX;
	hour_turns_init(&p->turns);
	for (size_t i = 0; i < DAY_STEPS; i++)
		p->after[i] = -1;
	return p;
}

void pass_free(struct pass *pass)
{
	if (!pass)
		return;
	watermark_reader_free(pass->watermark);
	open_hours_free(pass->open);
	free(pass);
}

/*
 * ClickHouse's clock went back, or another replica answers whose clock is
 * behind: what was reported since then may have come with times that were read
 * long ago.  `progress_overlap` covers half of itself, the other half is for
 * inserts that take their time.
 */
static bool went_back(struct pass *p, int64_t server_ms)
{
	struct settling *s = &p->settling;
	int64_t back = s->clock.server_ms ? settling_now(s) - server_ms : 0;

	s->clock = (struct server_clock){server_ms, clock_monotonic_ms()};
	return back > JITTER_MS && back > p->settings->progress_overlap / 2;
}

/*
 * How far this pass can promise counts.  Read before the hours are listed:
 * what arrives meanwhile is settled too, but not promised.
 */
static int read_progress(struct pass *p, const struct progress *last,
			 struct progress *ret, struct pass_clocks *clocks,
			 struct error *err)
{
	struct watermark reported;
	int64_t mark;

	if (watermark_read(p->watermark, p->ch, last->mended, &reported, err) <
		    0 ||
	    progress_read_until(p->ch, &ret->read_until, err) < 0)
		return -1;
	*clocks = (struct pass_clocks){
		.server_ms = reported.server_ms,
		.ahead_ms = reported.ahead_ms,
		.went_back = went_back(p, reported.server_ms),
	};
	mark = reported.complete_until ? reported.complete_until -
						 p->settings->clicks.edge_delay
				       : 0;
	/* The watermark never goes back by itself: a promise once given is
	 * kept. */
	ret->complete_until =
		mark > last->complete_until ? mark : last->complete_until;
	ret->mended = last->mended;
	return 0;
}

/* Reports inserted since then (ms) are read again: `last->read_until` may be of
 * a clock that has gone back since. */
static int64_t read_from(const struct pass *p, const struct progress *last,
			 const struct pass_clocks *clocks)
{
	int64_t until = last->read_until < clocks->server_ms
				? last->read_until
				: clocks->server_ms;
	int64_t since = until - p->settings->progress_overlap;

	return since > 0 ? since : 0;
}

/* Counts hours that a recheck of everything found and a pass over new reports
 * would have missed: clocks differ by more than progress_overlap covers. */
static int count_late(struct pass *p, int64_t since, size_t found,
		      size_t *ret_late, struct error *err)
{
	struct stale_list fresh;

	*ret_late = 0;
	if (!since || !found)
		return 0;
	if (progress_stale_hours(p->ch, since, 0, true, &fresh, err) < 0)
		return -1;
	if (fresh.count < found)
		*ret_late = found - fresh.count;
	stale_list_release(&fresh);
	return 0;
}

/*
 * What is promised goes on to the first hour that is left, but for hours behind
 * what was promised before: what came for these since is late.  Hours that are
 * held back count as done: they would stop the watermark for ever.  What was
 * reported of hours that are left is read again.
 */
static struct progress promise(const struct pass *p,
			       const struct hours_settled *settled,
			       const struct progress *last,
			       const struct progress *now)
{
	struct progress next = *now;
	int64_t from = settled->left_from;

	if (!p->everything && p->left_from < from)
		from = p->left_from;
	if (settled->left)
		next.read_until = last->read_until;
	if (next.complete_until / CLOCK_SECOND >= from)
		next.complete_until = from * CLOCK_SECOND;
	if (next.complete_until < last->complete_until)
		next.complete_until = last->complete_until;
	return next;
}

static int settle_hours(struct pass *p, const struct stale_list *stale,
			const struct progress *last, const struct progress *now,
			struct pass_result *ret, struct hours_settled *settled,
			struct error *first, struct error *err)
{
	struct settled_row row = {
		SETTLED_PASS, {.start = settling_now(&p->settling) / 1000}, 0};
	/* What was reported while the clock was back is not where it belongs.
	 */
	struct open_hours *open = p->back_to == INT64_MAX ? p->open : NULL;
	int status = hour_turns_take(&p->turns, &p->settling, stale, open, last,
				     settled, first, err);
	struct progress next = promise(p, settled, last, now);

	ret->hours = settled->hours;
	ret->hours_added = settled->added;
	ret->more = settled->more;
	ret->complete_until = last->complete_until;
	if (status < 0)
		return -1;
	ret->complete_until = next.complete_until;
	if (!settled->hours && next.read_until == last->read_until &&
	    next.complete_until == last->complete_until)
		return 0;
	if (check_lease(p, err) < 0)
		return -1;
	row.attempt = settling_attempt_next(settling_now(&p->settling),
					    last->attempt);
	return settling_insert(&p->settling, &row, 1, &next, err);
}

/* After one that has left some the next recheck is soon. */
static void end_recheck(struct pass *p, const struct hours_settled *settled)
{
	const struct aggregator_settings *s = p->settings;
	int64_t soon = LOOK_EVERY * s->settle_every;

	if (!settled->left || soon > s->recheck_every)
		soon = s->recheck_every;
	p->recheck_at = clock_monotonic_ms() + soon;
	p->left_from = settled->left_from;
}

static int pass_hours(struct pass *p, struct progress *last,
		      struct pass_result *ret, struct error *first,
		      struct error *err)
{
	int64_t mono = clock_monotonic_ms();
	struct progress now;
	struct stale_list stale = {0};
	struct hours_settled settled;
	int64_t since;
	int status;

	if (progress_read_last(p->ch, last, err) < 0 ||
	    read_progress(p, last, &now, &ret->clocks, err) < 0)
		return -1;
	/* The same reports are read again until all of their hours are
	 * settled. */
	since = read_from(p, last, &ret->clocks);
	if (ret->clocks.went_back) {
		p->recheck_at = mono;
		p->back_to = since < p->back_to ? since : p->back_to;
	}
	p->everything = mono >= p->recheck_at;
	p->quiet = p->quiet && !p->everything;
	if (!p->quiet && progress_stale_hours(p->ch, p->everything ? 0 : since,
					      p->everything ? 0 : p->back_to,
					      p->everything, &stale, err) < 0)
		return -1;
	p->found = stale.count > 0;
	status = p->everything ? count_late(p, since, stale.count,
					    &ret->clocks.late_hours, err)
			       : 0;
	if (status == 0)
		status = settle_hours(p, &stale, last, &now, ret, &settled,
				      first, err);
	stale_list_release(&stale);
	if (status == 0 && p->everything && !ret->more)
		end_recheck(p, &settled);
	return status;
}

/* What does something with one day after `after`; see seal_next. */
typedef int next_day_fn(const struct settling *s, int64_t after,
			const struct progress *last, int64_t *ret_start,
			bool *ret_done, struct error *err);

static int settle_next(const struct settling *s, int64_t after,
		       const struct progress *last, int64_t *ret_start,
		       bool *ret_settled, struct error *err)
{
	struct pass *p = s->arg;
	int64_t now = settling_now(s);
	struct stale_list stale = {0};
	struct settle_count settled = {0};
	size_t next = 0;
	int status = 0;

	if (progress_stale_days(s->ch, now - s->settings->day_grace,
				now - s->settings->resettle_every, p->held_days,
				&stale, err) < 0)
		return -1;
	while (next < stale.count && stale.items[next].start <= after)
		next++;
	*ret_start = -1;
	if (next < stale.count) {
		*ret_start = stale.items[next].start;
		status =
			days_settle(s, &stale.items[next], last, &settled, err);
	} else {
		p->held_days = false;
	}
	*ret_settled = settled.published > 0;
	p->stale_days = next + 1 < stale.count;
	stale_list_release(&stale);
	return status;
}

/* What keeps a day from being worked on is no reason to leave others: those
 * steps that are to come, and days after it.  *first is the first such. */
static bool is_of_day(const struct error *err, int64_t after, int64_t day,
		      struct error *first)
{
	if (day == after || err->code == ERROR_STOPPED)
		return false;
	if (!first->code)
		*first = *err;
	return true;
}

/*
 * One day by each step, until one has done it: open hours should not wait for a
 * backlog of days.  Each goes from day to day, and from the first on again when
 * there is no more: one with which it cannot be done now stops none.
 */
static int pass_days(struct pass *p, const struct progress *last,
		     struct pass_result *ret, struct error *first,
		     struct error *err)
{
	static next_day_fn *const next[DAY_STEPS] = {settle_next, seal_next,
						     owner_days_next,
						     rollups_next, drop_next};
	size_t *const counts[DAY_STEPS] = {&ret->days, &ret->sealed,
					   &ret->owner_days, &ret->rolled_up,
					   &ret->dropped};

	if (p->everything) {
		p->held_days = true;
		p->after[DAY_SETTLED] = -1;
	}
	p->stale_days = false;
	/* Of hours that fail there may be more in every pass. */
	if (first->code)
		ret->more = false;
	for (size_t i = 0; i < DAY_STEPS && !ret->more; i++) {
		int64_t day = p->after[i];
		bool done = false;
		bool is_first = day < 0;
		int status = next[i](&p->settling, p->after[i], last, &day,
				     &done, err);

		if (status < 0 && !is_of_day(err, p->after[i], day, first))
			return -1;
		p->after[i] = day;
		p->found |= !is_first || day >= 0;
		*counts[i] = done;
		ret->more = status == 0 && (done || p->stale_days);
	}
	ret->dropped_day = p->after[DAY_DROPPED];
	return 0;
}

/* --- cleaning ---------------------------------------------------------------
 */

/* Waits for the mutation: what follows relies on it.  The sub-queries read
 * `settled`, which makes them "nondeterministic" in a cluster. */
static const struct clickhouse_param mutation[] = {
	{"mutations_sync", "1"},
	{"allow_nondeterministic_mutations", "1"},
	{NULL, NULL}};

struct cleaning {
	struct clickhouse *ch;
	uint64_t before; /* attempt */
	const char *table;
};

/* Asks for one column and gives each value to `fn`. */
static int for_each(struct cleaning *c, struct buf *sql, const char *column,
		    clickhouse_row_fn *fn, struct error *err)
{
	int status = buf_cstr(sql) ? settling_for_each(c->ch, sql->data, NULL,
						       column, fn, c, err)
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
static void put_superseded(struct buf *sql, const struct cleaning *c)
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
	const struct cleaning *c = arg;
	struct buf sql = {0};
	int status;

	put_delete_of_day(&sql, day[0]);
	put_superseded(&sql, c);
	status = settling_run(c->ch, &sql, mutation, err);
	buf_free(&sql);
	return status;
}

/* Hours that may still be settled by what arrives, or were a moment ago. */
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
	struct cleaning cleaning;
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

/*
 * An hour that is not over has a new attempt in most passes, each with all of
 * its rows: those that a newer one superseded `keep_open` ago go at once.  Only
 * published ones; what a settler left behind goes with the others.
 */
static int clean_open_hours(struct pass *p, struct error *err)
{
	int64_t mono = clock_monotonic_ms(), keep = p->settings->keep_open;
	struct open_cleaning c = {
		{.ch = p->ch}, settling_now(&p->settling), keep};
	struct buf sql = {0};
	int status;

	if (mono < p->clean_open_at)
		return 0;
	p->clean_open_at = mono + keep / 2;
	buf_puts(&sql, "SELECT DISTINCT toYYYYMMDD(hour) FROM stats_hourly "
		       "WHERE dimension = 'total' AND ");
	put_superseded_open(&sql, c.now_ms, keep);
	buf_puts(&sql, " FORMAT TabSeparated");
	status = buf_cstr(&sql) ? settling_for_each(p->ch, sql.data, NULL, "n",
						    delete_open_hours, &c, err)
				: error_set_nomem(err);
	buf_free(&sql);
	return status < 0 ? error_wrap(err, "delete superseded open hours") : 0;
}

/*
 * The days (partitions of stats_hourly) that have such rows.  They are looked
 * for where they lie: of an attempt that was never published, as its settler
 * was killed or the hour is held back, `settled` need not know.  Of `total`
 * each attempt has rows, and few: other dimensions would be millions to read.
 */
static int clean_hours(struct cleaning *c, struct error *err)
{
	struct buf sql = {0};

	buf_puts(&sql, "SELECT DISTINCT toYYYYMMDD(hour) FROM stats_hourly "
		       "WHERE dimension = 'total' AND ");
	put_superseded(&sql, c);
	buf_puts(&sql, " FORMAT TabSeparated");
	return for_each(c, &sql, "n", delete_hours, err);
}

/* An attempt is a partition: "20261024-1878000000000000000". */
static bool is_partition(const char *id)
{
	return strspn(id, "0123456789-") == strlen(id) && *id;
}

static int drop_attempt(void *arg, char **id, struct error *err)
{
	const struct cleaning *c = arg;
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

static int clean_links(struct cleaning *c, const char *table, struct error *err)
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
	return for_each(c, &sql, "s", drop_attempt, err);
}

static int clean_settled(const struct cleaning *c, struct error *err)
{
	struct buf sql = {0};
	int status;

	buf_printf(&sql,
		   "ALTER TABLE settled DELETE WHERE attempt < %" PRIu64
		   " AND attempt != mended AND kind NOT IN ('sealing', "
		   "'copying', 'rolling')"
		   " AND (kind, unit, attempt) NOT IN (SELECT kind, "
		   "argMax(unit, attempt), max(attempt) FROM settled "
		   "GROUP BY kind, "
		   "if(kind = 'pass', toDateTime(0, 'UTC'), unit))",
		   c->before);
	status = settling_run(c->ch, &sql, mutation, err);
	buf_free(&sql);
	return status;
}

/*
 * Deletes attempts that were begun before `before_ms` and are not the newest
 * published one: rows of stats_hourly and partitions of link_slots and
 * link_days first, then those of `settled`, so that what is deleted by half is
 * found again.
 */
static int delete_superseded(struct clickhouse *ch, int64_t before_ms,
			     struct error *err)
{
	static int (*const copies[])(struct clickhouse *, int64_t,
				     struct error *) = {
		owner_days_clean, rollups_clean, seal_clean, drop_clean};
	struct cleaning c = {.ch = ch,
			     .before = settling_attempt_at(before_ms)};
	struct error first = {0};
	int status = settling_note(ch, clean_hours(&c, err), &first, err);

	if (status == 0)
		status = settling_note(ch, clean_links(&c, "link_slots", err),
				       &first, err);
	if (status == 0)
		status = settling_note(ch, clean_links(&c, "link_days", err),
				       &first, err);
	for (size_t i = 0; status == 0 && i < sizeof(copies) / sizeof(*copies);
	     i++)
		status = settling_note(ch, copies[i](ch, before_ms, err),
				       &first, err);
	if (status == 0)
		status = settling_noted(&first, err);
	if (status == 0)
		status = clean_settled(&c, err);
	return status < 0 ? error_wrap(err, "delete what is superseded") : 0;
}

/* What has gone on without one that failed: see settling_note. */
static int clean(struct pass *p, const struct progress *last,
		 struct pass_result *ret, struct error *first,
		 struct error *err)
{
	const struct settling *s = &p->settling;
	int64_t before = settling_now(s) - p->settings->keep_superseded;

	if (settling_note(p->ch, days_drop_left_over(p->ch, err), first, err) <
		    0 ||
	    settling_note(p->ch, drop_delete_rows(s, &ret->rows_deleted, err),
			  first, err) < 0 ||
	    settling_note(p->ch, drop_months(s, last, &ret->kept_from, err),
			  first, err) < 0 ||
	    settling_note(p->ch, drop_months_delete(s, err), first, err) < 0 ||
	    settling_note(p->ch, drop_months_thin(s, err), first, err) < 0)
		return -1;
	return settling_note(p->ch, delete_superseded(p->ch, before, err),
			     first, err);
}

static int pass_clean(struct pass *p, const struct progress *last,
		      struct pass_result *ret, struct error *first,
		      struct error *err)
{
	int64_t mono = clock_monotonic_ms();

	if (settling_note(p->ch, clean_open_hours(p, err), first, err) < 0)
		return -1;
	if (mono < p->clean_at)
		return 0;
	p->clean_at = mono + p->settings->clean_every;
	return clean(p, last, ret, first, err);
}

/* --- a pass -----------------------------------------------------------------
 */

/* What is stale, and which days are next, follows from the tables and from
 * time. */
static int look(struct pass *p, struct progress *last, struct pass_result *ret,
		struct error *first, struct error *err)
{
	struct table_state now;

	table_state_read(p->ch, &now);
	p->quiet = clock_monotonic_ms() < p->look_at &&
		   table_state_is_same(&now, &p->nothing_at);
	p->nothing_at.known = false;
	if (pass_hours(p, last, ret, first, err) < 0)
		return -1;
	if (!p->quiet) {
		if (pass_days(p, last, ret, first, err) < 0 ||
		    progress_held_back(p->ch, &p->held, err) < 0)
			return -1;
		p->look_at = clock_monotonic_ms() +
			     LOOK_EVERY * p->settings->settle_every;
	}
	ret->held = p->held;
	if (!p->found && !first->code)
		p->nothing_at = now;
	return 0;
}

int pass_run(struct pass *pass, struct pass_result *ret, struct error *err)
{
	struct progress last;
	struct error first = {0};

	*ret = (struct pass_result){0};
	if (look(pass, &last, ret, &first, err) < 0 ||
	    pass_clean(pass, &last, ret, &first, err) < 0)
		return -1;
	ret->ended = true;
	return settling_noted(&first, err);
}
