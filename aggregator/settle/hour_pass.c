#include "aggregator/settle/hour_pass.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/progress.h"
#include "aggregator/settle/hour_turns.h"
#include "aggregator/settle/open_hours.h"
#include "aggregator/settle/promise.h"
#include "aggregator/settle/superseded.h"
#include "aggregator/settle/table_state.h"
#include "common/clock.h"

struct hour_pass {
	struct settling settling;
	struct watermark_reader *watermark;
	struct open_hours *open;
	struct hour_turns turns;
	bool everything; /* this pass rechecks everything */
	bool found;	 /* there was work, or an hour to hold back */
	bool quiet;	 /* no work in this pass, nor in the last */
	struct table_watch watch;
	struct held_back held; /* as of the last pass that searched */
	/* Monotonic ms of the next recheck of everything, and of the next
	 * cleaning. */
	int64_t recheck_at;
	int64_t clean_at;
	/*
	 * The first hour (seconds) that the last recheck could not settle, of
	 * those that the watermark waits for; other passes need not list it.
	 * INT64_MAX: none.
	 */
	int64_t left_from;
	/*
	 * If ClickHouse's clock went back: blocks of present hours may have
	 * been reported at this time (ms) or later.  INT64_MAX: it did not go
	 * back.
	 */
	int64_t back_to;
};

struct hour_pass *hour_pass_new(const struct settling *settling,
				struct error *err)
{
	struct hour_pass *p = calloc(1, sizeof(*p));

	if (!p) {
		error_set_nomem(err);
		return NULL;
	}
	p->watermark = watermark_reader_new(settling->settings, err);
	p->open = p->watermark ? open_hours_new(err) : NULL;
	if (!p->open) {
		hour_pass_free(p);
		return NULL;
	}
	p->settling = *settling;
	p->back_to = INT64_MAX;
	p->left_from = INT64_MAX;
	hour_turns_init(&p->turns);
	return p;
}

void hour_pass_free(struct hour_pass *pass)
{
	if (!pass)
		return;
	watermark_reader_free(pass->watermark);
	open_hours_free(pass->open);
	free(pass);
}

static bool went_back(struct hour_pass *p, int64_t server_ms)
{
	struct settling *s = &p->settling;
	int64_t back = s->clock.server_ms ? settling_now(s) - server_ms : 0;

	s->clock = (struct server_clock){server_ms, clock_monotonic_ms()};
	return promise_clock_went_back(back, s->settings->progress_overlap);
}

/* Reads how far this pass can promise counts.  This comes before the hours are
 * listed: what arrives meanwhile is settled too, but not promised. */
static int read_progress(struct hour_pass *p, const struct progress *last,
			 struct progress *ret, struct hour_pass_result *result,
			 struct error *err)
{
	struct watermark reported;

	if (watermark_read(p->watermark, p->settling.ch, last->mended,
			   &reported, err) < 0 ||
	    progress_read_until(p->settling.ch, &ret->read_until, err) < 0)
		return -1;
	result->clocks = (struct pass_clocks){
		.server_ms = reported.server_ms,
		.ahead_ms = reported.ahead_ms,
		.went_back = went_back(p, reported.server_ms),
	};
	result->silent.since = reported.silent_since;
	if (reported.silent_since)
		snprintf(result->silent.name, sizeof(result->silent.name), "%s",
			 reported.topic);
	ret->complete_until =
		promise_mark(reported.complete_until,
			     p->settling.settings->clicks.edge_delay, last);
	ret->mended = last->mended;
	return 0;
}

/* Counts hours that a recheck of everything found and a pass over new reports
 * would have missed: the clocks differ by more than progress_overlap covers. */
static int count_late(struct hour_pass *p, int64_t since, size_t found,
		      size_t *ret_late, struct error *err)
{
	struct stale_list fresh;

	*ret_late = 0;
	if (!since || !found)
		return 0;
	if (progress_stale_hours(p->settling.ch, since, 0, true, &fresh, err) <
	    0)
		return -1;
	if (fresh.count < found)
		*ret_late = found - fresh.count;
	stale_list_release(&fresh);
	return 0;
}

/* Other passes need not list the hours that the last recheck left. */
static int64_t left_from(const struct hour_pass *p,
			 const struct hours_settled *settled)
{
	return !p->everything && p->left_from < settled->left_from
		       ? p->left_from
		       : settled->left_from;
}

static int settle_hours(struct hour_pass *p, const struct stale_list *stale,
			const struct progress *last, const struct progress *now,
			struct hour_pass_result *ret,
			struct hours_settled *settled, struct error *first,
			struct error *err)
{
	struct settled_row row = {
		SETTLED_PASS, {.start = settling_now(&p->settling) / 1000}, 0};
	/* Reports from while the clock was back have wrong times. */
	struct open_hours *open = p->back_to == INT64_MAX ? p->open : NULL;
	int status = hour_turns_take(&p->turns, &p->settling, stale, open, last,
				     settled, first, err);
	struct progress next =
		promise_next(last, now, settled->left, left_from(p, settled));

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
	if (p->settling.check_lease(p->settling.arg, err) < 0)
		return -1;
	row.attempt = settling_attempt_next(settling_now(&p->settling),
					    last->attempt);
	return settling_insert(&p->settling, &row, 1, &next, err);
}

/* The next recheck is soon after one that has left some hours. */
static void end_recheck(struct hour_pass *p,
			const struct hours_settled *settled)
{
	const struct aggregator_settings *s = p->settling.settings;
	int64_t soon = TABLE_WATCH_LOOK_EVERY * s->settle_every;

	if (!settled->left || soon > s->recheck_every)
		soon = s->recheck_every;
	p->recheck_at = clock_monotonic_ms() + soon;
	p->left_from = settled->left_from;
}

static int pass_hours(struct hour_pass *p, struct progress *last,
		      struct hour_pass_result *ret, struct error *first,
		      struct error *err)
{
	int64_t mono = clock_monotonic_ms();
	struct progress now;
	struct stale_list stale = {0};
	struct hours_settled settled;
	int64_t since;
	int status;

	if (progress_read_last(p->settling.ch, last, err) < 0 ||
	    read_progress(p, last, &now, ret, err) < 0)
		return -1;
	/* The same reports are read again until all of their hours are
	 * settled. */
	since = promise_read_from(last, ret->clocks.server_ms,
				  p->settling.settings->progress_overlap);
	if (ret->clocks.went_back) {
		p->recheck_at = mono;
		p->back_to = since < p->back_to ? since : p->back_to;
	}
	p->everything = mono >= p->recheck_at;
	/* This comes after the promise was read: if nothing has changed,
	 * everything reported by then was already checked. */
	p->quiet = table_watch_is_quiet(&p->watch, p->settling.ch) &&
		   !p->everything;
	if (!p->quiet &&
	    progress_stale_hours(p->settling.ch, p->everything ? 0 : since,
				 p->everything ? 0 : p->back_to, p->everything,
				 &stale, err) < 0)
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

/* --- cleaning ---------------------------------------------------------------
 */

static int clean_open_hours(struct hour_pass *p, struct error *err)
{
	int64_t mono = clock_monotonic_ms();
	int64_t keep = p->settling.settings->keep_open;

	if (mono < p->clean_at)
		return 0;
	p->clean_at = mono + keep / 2;
	return superseded_delete_open(p->settling.ch,
				      settling_now(&p->settling), keep, err);
}

/* --- a pass -----------------------------------------------------------------
 */

/* Looks for stale hours.  Which these are follows from the tables and from
 * time. */
static int settle_stale_hours(struct hour_pass *p, struct hour_pass_result *ret,
			      struct error *first, struct error *err)
{
	struct progress last;

	if (pass_hours(p, &last, ret, first, err) < 0)
		return -1;
	/* Hours that fail would be found again in every pass. */
	if (first->code)
		ret->more = false;
	if (!p->quiet && progress_held_back(p->settling.ch, &p->held, err) < 0)
		return -1;
	ret->held = p->held;
	ret->found = p->found && !p->quiet;
	table_watch_found(&p->watch, p->found || first->code, !p->quiet,
			  p->settling.settings->settle_every);
	return 0;
}

int hour_pass_run(struct hour_pass *pass, struct hour_pass_result *ret,
		  struct error *err)
{
	struct error first = {0};

	*ret = (struct hour_pass_result){0};
	if (settle_stale_hours(pass, ret, &first, err) < 0 ||
	    settling_note(pass->settling.ch, clean_open_hours(pass, err),
			  &first, err) < 0)
		return -1;
	ret->ended = true;
	return settling_noted(&first, err);
}
