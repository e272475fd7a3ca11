#include "aggregator/settle/day_pass.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "aggregator/progress.h"
#include "aggregator/settle/day_copy.h"
#include "aggregator/settle/day_settlement.h"
#include "aggregator/settle/drop.h"
#include "aggregator/settle/drop_months.h"
#include "aggregator/settle/superseded.h"
#include "aggregator/settle/table_state.h"
#include "aggregator/settle/waiting.h"
#include "aggregator/zone/civil.h"
#include "common/clickhouse/rows.h"
#include "common/clock.h"

/* The steps of a pass, in this order; each handles one day at a time. */
enum day_step {
	DAY_SETTLED,
	DAY_COPIED, /* the first copy */
	DAY_DROPPED = DAY_COPIED + COPIED_KINDS,
	DAY_STEPS
};

struct day_pass {
	struct settling settling;
	struct table_watch watch;
	bool found;	 /* there was work, or a day to hold back */
	bool held_days;	 /* days that are held back are tried again */
	bool stale_days; /* more than one day is to be settled */
	bool soon;	 /* a day is to be settled once it changes no more */
	/* The last day that each step handled; -1: begin with the first. */
	int64_t after[DAY_STEPS];
	/* Monotonic ms of the next recheck of everything, and of the next
	 * cleaning. */
	int64_t recheck_at, clean_at;
	struct overtaken overtaken;
	/*
	 * Monotonic ms at which dropping begins with the first day again.
	 * Until then, a day is not counted in each pass if a table lacks some
	 * of its events.
	 */
	int64_t drop_at;
	int64_t complete_until; /* ms, as last read; 0: not known */
};

struct day_pass *day_pass_new(const struct settling *settling,
			      struct error *err)
{
	struct day_pass *p = calloc(1, sizeof(*p));

	if (!p) {
		error_set_nomem(err);
		return NULL;
	}
	p->settling = *settling;
	p->clean_at = clock_monotonic_ms() + settling->settings->clean_every;
	for (size_t i = 0; i < DAY_STEPS; i++)
		p->after[i] = -1;
	return p;
}

void day_pass_free(struct day_pass *pass)
{
	free(pass);
}

/* --- days -------------------------------------------------------------------
 */

/*
 * A corrected day is settled again when its hours have not changed for a while,
 * or when nothing was reported for a while: one that an import still adds to
 * would be settled with each batch.  Both are ms.
 */
static int64_t calm_ms(const struct settling *s)
{
	return s->settings->settle_every * 3 / 2;
}

static int64_t silent_ms(const struct settling *s)
{
	return s->settings->settle_every * 2 / 3;
}

static bool is_late_clicks_turn(const struct settling *s,
				const struct stale *day)
{
	int64_t now = settling_now(s);

	return day->settled_at <= now - s->settings->resettle_every ||
	       day->settled_at > now;
}

static bool has_hour_of(const struct stale_list *hours, int64_t day)
{
	for (size_t i = 0; i < hours->count; i++)
		if (hours->items[i].start >= day &&
		    hours->items[i].start < day + CIVIL_DAY)
			return true;
	return false;
}

/* Drops the corrected days that are not due yet: those with an hour of
 * `waiting`, and unless `silent` those that changed a moment ago. */
static void keep_due(struct day_pass *p, struct stale_list *days,
		     const struct stale_list *waiting, bool silent)
{
	const struct settling *s = &p->settling;
	int64_t calm_since = settling_now(s) - calm_ms(s);
	size_t kept = 0;

	for (size_t i = 0; i < days->count; i++) {
		const struct stale *day = &days->items[i];

		if (is_late_clicks_turn(s, day) ||
		    ((silent || day->changed_at <= calm_since) &&
		     !has_hour_of(waiting, day->start)))
			days->items[kept++] = *day;
	}
	p->soon = kept < days->count;
	days->count = kept;
}

/* Whether imports and rescorings have reported nothing for a while. */
static int read_silence(const struct settling *s, int64_t since, bool *ret,
			struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/last_correction.sql.inc"
		;
	char text[24];
	const struct clickhouse_param params[] = {{"param_since", text},
						  {NULL, NULL}};
	uint64_t last = 0;

	snprintf(text, sizeof(text), "%" PRId64, since);
	if (clickhouse_numbers(s->ch, sql, params, &last, 1, err) < 0)
		return error_wrap(err, "ingest_progress");
	*ret = (int64_t)last <= settling_now(s) - silent_ms(s);
	return 0;
}

static bool has_corrected(const struct day_pass *p,
			  const struct stale_list *days)
{
	for (size_t i = 0; i < days->count; i++)
		if (!is_late_clicks_turn(&p->settling, &days->items[i]))
			return true;
	return false;
}

static int drop_early(struct day_pass *p, const struct progress *last,
		      int64_t corrected_since, struct stale_list *days,
		      struct error *err)
{
	const struct settling *s = &p->settling;
	struct stale_list waiting = {0};
	bool silent = false;

	if (read_silence(s, corrected_since, &silent, err) < 0 ||
	    waiting_list_hours(s->ch, s->settings, last, settling_now(s),
			       &waiting, err) < 0)
		return -1;
	keep_due(p, days, &waiting, silent);
	stale_list_release(&waiting);
	return 0;
}

static int list_stale(struct day_pass *p, const struct progress *last,
		      struct stale_list *ret, struct error *err)
{
	const struct aggregator_settings *settings = p->settling.settings;
	int64_t now = settling_now(&p->settling);
	const struct days_due due = {
		.closed_before = now - settings->day_grace,
		.not_since = now - settings->resettle_every,
		.corrected_since = now - settings->resettle_every - CLOCK_HOUR};

	p->soon = false;
	if (progress_stale_days(p->settling.ch, &due, p->held_days, ret, err) <
	    0)
		return -1;
	if (!has_corrected(p, ret) ||
	    drop_early(p, last, due.corrected_since, ret, err) == 0)
		return 0;
	stale_list_release(ret);
	return -1;
}

static int settle_next(struct day_pass *p, int64_t after,
		       const struct progress *last, int64_t *ret_start,
		       bool *ret_settled, struct error *err)
{
	const struct settling *s = &p->settling;
	struct stale_list stale = {0};
	struct settle_count settled = {0};
	size_t next = 0;
	int status = 0;

	if (list_stale(p, last, &stale, err) < 0)
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

static int drop_one(struct day_pass *p, int64_t after,
		    const struct progress *last, struct day_pass_result *ret,
		    int64_t *ret_start, bool *ret_done, struct error *err)
{
	const struct settling *s = &p->settling;
	int status;

	if (after < 0 && clock_monotonic_ms() < p->drop_at) {
		*ret_start = -1;
		return 0;
	}
	status = drop_next(s, after, last, &ret->drop, &ret->removed, err);
	if (ret->drop.why == DROP_LACKS)
		p->drop_at = clock_monotonic_ms() + s->settings->recheck_every;
	*ret_start = ret->drop.start;
	*ret_done = ret->drop.dropped;
	return status;
}

/* Does a step with one day after `after`; see day_copy_next. */
static int take_step(struct day_pass *p, enum day_step step, int64_t after,
		     const struct progress *last, struct day_pass_result *ret,
		     int64_t *ret_start, bool *ret_done, struct error *err)
{
	const struct derived *copy;

	if (step == DAY_SETTLED)
		return settle_next(p, after, last, ret_start, ret_done, err);
	if (step == DAY_DROPPED)
		return drop_one(p, after, last, ret, ret_start, ret_done, err);
	copy = derived_copy((enum copied)(step - DAY_COPIED));
	return day_copy_next(&p->settling, copy, after, last, ret_start,
			     ret_done, err);
}

/* Whether an error concerns one day only: then later steps and later days go
 * on.  *first is the first such error. */
static bool is_of_day(const struct error *err, int64_t after, int64_t day,
		      struct error *first)
{
	if (day == after || err->code == ERROR_STOPPED)
		return false;
	if (!first->code)
		*first = *err;
	return true;
}

static size_t *count_of_step(struct day_pass_result *ret, enum day_step step)
{
	if (step == DAY_SETTLED)
		return &ret->days;
	return step == DAY_DROPPED ? &ret->dropped
				   : &ret->copied[step - DAY_COPIED];
}

/*
 * Each step handles one day, until one step has done its work: what was settled
 * meanwhile is then known to the next pass.  Each step goes from day to day,
 * and after the last one from the first again, so that a day which cannot be
 * done now stops no others.
 */
static int pass_days(struct day_pass *p, const struct progress *last,
		     struct day_pass_result *ret, struct error *first,
		     struct error *err)
{
	p->stale_days = false;
	for (size_t i = 0; i < DAY_STEPS && !ret->more; i++) {
		int64_t after = p->after[i], day = after;
		bool done = false;
		int status = take_step(p, (enum day_step)i, after, last, ret,
				       &day, &done, err);

		if (status < 0 && !is_of_day(err, after, day, first))
			return -1;
		p->after[i] = day;
		p->found |= after >= 0 || day >= 0;
		*count_of_step(ret, (enum day_step)i) = done;
		ret->more = status == 0 && (done || p->stale_days);
	}
	return 0;
}

/* --- cleaning ---------------------------------------------------------------
 */

/* An error of one statement does not stop the others: see settling_note. */
static int clean_tables(struct day_pass *p, const struct progress *last,
			struct day_pass_result *ret, struct error *first,
			struct error *err)
{
	const struct settling *s = &p->settling;

	if (settling_note(s->ch, drop_delete_rows(s, &ret->deleted, err), first,
			  err) < 0 ||
	    settling_note(s->ch, drop_months(s, last, &ret->kept_from, err),
			  first, err) < 0 ||
	    settling_note(s->ch, drop_months_delete(s, err), first, err) < 0 ||
	    settling_note(s->ch, drop_months_thin(s, err), first, err) < 0)
		return -1;
	return settling_note(s->ch, superseded_delete(s, &p->overtaken, err),
			     first, err);
}

/* --- a pass -----------------------------------------------------------------
 */

/* Looks for days that are due.  Which these are follows from the tables and
 * from time. */
static int process_due_days(struct day_pass *p, bool quiet,
			    const struct progress *last,
			    struct day_pass_result *ret, struct error *first,
			    struct error *err)
{
	p->found = false;
	if (!quiet && pass_days(p, last, ret, first, err) < 0)
		return -1;
	table_watch_found(&p->watch, p->found || p->soon || first->code, !quiet,
			  p->settling.settings->settle_every);
	return 0;
}

/* Whether only the passing of time can make anything due. */
static bool is_quiet(struct day_pass *p)
{
	int64_t mono = clock_monotonic_ms();
	bool quiet = table_watch_is_quiet(&p->watch, p->settling.ch);

	if (mono < p->recheck_at)
		return quiet;
	p->recheck_at = mono + p->settling.settings->recheck_every;
	p->held_days = true;
	p->after[DAY_SETTLED] = -1;
	return false;
}

static int settle_and_clean(struct day_pass *p, bool days, bool quiet,
			    bool cleans, struct day_pass_result *ret,
			    struct error *err)
{
	struct settling *s = &p->settling;
	struct error first = {0};
	struct progress last;

	if (settling_read_clock(s->ch, &s->clock, err) < 0 ||
	    progress_read_last(s->ch, &last, err) < 0)
		return -1;
	p->complete_until = last.complete_until;
	if (days && process_due_days(p, quiet, &last, ret, &first, err) < 0)
		return -1;
	if (cleans) {
		p->clean_at = clock_monotonic_ms() + s->settings->clean_every;
		if (clean_tables(p, &last, ret, &first, err) < 0)
			return -1;
	}
	ret->ended = true;
	return settling_noted(&first, err);
}

int day_pass_run(struct day_pass *pass, bool days, struct day_pass_result *ret,
		 struct error *err)
{
	bool quiet = days && is_quiet(pass);
	bool cleans = clock_monotonic_ms() >= pass->clean_at;
	int status = 0;

	*ret = (struct day_pass_result){0};
	if (cleans || (days && !quiet)) {
		status = settle_and_clean(pass, days, quiet, cleans, ret, err);
	} else {
		ret->ended = true;
		if (quiet)
			table_watch_found(&pass->watch, false, false, 0);
	}
	ret->complete_until = pass->complete_until;
	ret->soon = pass->soon;
	return status;
}
