#include "aggregator/settle/pass.h"

#include <stdlib.h>

#include "aggregator/settle/cleaning.h"
#include "aggregator/settle/days.h"
#include "aggregator/settle/hours.h"
#include "aggregator/settle/progress.h"
#include "common/clock.h"

/* Published in one go; after so many, a backlog shows its progress. */
#define HOURS_AT_ONCE 24

/* Computed in one statement: few clicks cost little more than one. */
#define ROWS_AT_ONCE 200000

struct pass {
	const struct settle_settings *settings;
	struct clickhouse *ch;
	struct lease *lease;
	bool (*stopping)(void *arg);
	void *arg;
	/* Monotonic ms of the next look at everything, and of the next
	 * cleaning. */
	int64_t recheck_at;
	int64_t clean_at;
};

struct pass *pass_new(const struct settle_settings *settings,
		      struct clickhouse *ch, struct lease *lease,
		      bool (*stopping)(void *arg), void *arg, struct error *err)
{
	struct pass *p = calloc(1, sizeof(*p));

	if (!p) {
		error_set_nomem(err);
		return NULL;
	}
	p->settings = settings;
	p->ch = ch;
	p->lease = lease;
	p->stopping = stopping;
	p->arg = arg;
	p->clean_at = clock_monotonic_ms() + settings->clean_every;
	return p;
}

void pass_free(struct pass *pass)
{
	free(pass);
}

static bool still_ours(void *arg, struct error *err)
{
	struct pass *p = arg;
	bool held = false;

	if (lease_hold(p->lease, &held, err) < 0)
		return false;
	if (!held)
		error_set_retriable(err, ERROR_BUSY,
				    "another aggregator took the lease");
	return held;
}

/*
 * How far this pass can vouch for.  Read before the hours are listed: what
 * arrives meanwhile is settled too, but not promised.
 */
static int look_ahead(struct pass *p, const struct progress *last,
		      struct progress *ret, struct error *err)
{
	int64_t mark;

	if (progress_watermark(p->ch, &mark, err) < 0 ||
	    progress_read_until(p->ch, &ret->read_until, err) < 0)
		return -1;
	mark = mark ? mark - p->settings->edge_delay : 0;
	/* A promise once given is kept. */
	ret->complete_until =
		mark > last->complete_until ? mark : last->complete_until;
	return 0;
}

/* How many of the hours, from the first on, go into one statement. */
static size_t chunk_of(const struct stale *hours, size_t count)
{
	uint64_t rows = hours[0].rows;
	size_t n = 1;

	while (n < count && rows + hours[n].rows <= ROWS_AT_ONCE)
		rows += hours[n++].rows;
	return n;
}

static int compute_hours(struct pass *p, const struct stale_list *stale,
			 struct settled_row *rows, size_t count,
			 uint64_t *attempt, struct error *err)
{
	size_t n;

	for (size_t i = 0; i < count; i += n) {
		n = chunk_of(&stale->items[i], count - i);
		if (p->stopping(p->arg))
			return error_set_retriable(err, ERROR_BUSY, "stopping");
		*attempt = attempt_next(*attempt);
		if (hours_compute(p->ch, &stale->items[i], n, *attempt,
				  p->settings->values_max, err) < 0)
			return -1;
		for (size_t k = i; k < i + n; k++)
			rows[k] = (struct settled_row){
				SETTLED_HOUR, stale->items[k], *attempt};
	}
	return 0;
}

/* Until all stale hours are settled, nothing new is promised. */
static int settle_hours(struct pass *p, const struct stale_list *stale,
			const struct progress *last, const struct progress *now,
			struct pass_result *ret, struct error *err)
{
	struct settled_row rows[HOURS_AT_ONCE + 1];
	size_t count =
		stale->count < HOURS_AT_ONCE ? stale->count : HOURS_AT_ONCE;
	bool all = count == stale->count;
	struct progress said = all ? *now : *last;
	uint64_t attempt = last->attempt;

	if (compute_hours(p, stale, rows, count, &attempt, err) < 0)
		return -1;
	if (!still_ours(p, err))
		return -1;
	ret->hours = count;
	ret->more = !all;
	ret->complete_until = said.complete_until;
	if (all && (count || now->read_until != last->read_until ||
		    now->complete_until != last->complete_until))
		rows[count++] =
			(struct settled_row){SETTLED_PASS,
					     {.start = clock_real_ms() / 1000},
					     attempt_next(attempt)};
	if (!count)
		return 0;
	return settled_publish(p->ch, rows, count, &said,
			       lease_holder(p->lease), err);
}

static int pass_hours(struct pass *p, struct progress *last,
		      struct pass_result *ret, struct error *err)
{
	int64_t mono = clock_monotonic_ms();
	bool everything = mono >= p->recheck_at;
	struct progress now;
	struct stale_list stale = {0};
	int64_t since;
	int status;

	if (progress_read_last(p->ch, last, err) < 0 ||
	    look_ahead(p, last, &now, err) < 0)
		return -1;
	since = last->read_until - p->settings->progress_overlap;
	if (everything || since < 0)
		since = 0;
	if (progress_stale_hours(p->ch, since, &stale, err) < 0)
		return -1;
	status = settle_hours(p, &stale, last, &now, ret, err);
	stale_list_release(&stale);
	if (status == 0 && everything && !ret->more)
		p->recheck_at = mono + p->settings->recheck_every;
	return status;
}

/* One day only: open hours should not wait for a backlog of days. */
static int pass_day(struct pass *p, const struct progress *last,
		    struct pass_result *ret, struct error *err)
{
	int64_t now = clock_real_ms();
	struct stale_list stale = {0};
	struct settled_row row;
	int status = 0;

	if (progress_stale_days(p->ch, now - p->settings->day_grace,
				now - p->settings->resettle_every, &stale,
				err) < 0)
		return -1;
	if (stale.count) {
		status =
			days_settle(p->ch, &stale.items[0], still_ours, p, err);
		row = (struct settled_row){SETTLED_DAY, stale.items[0],
					   attempt_next(last->attempt)};
		if (status == 0)
			status = settled_publish(p->ch, &row, 1, last,
						 lease_holder(p->lease), err);
		ret->days = status == 0;
		ret->more = ret->more || stale.count > 1;
	}
	stale_list_release(&stale);
	return status;
}

static int pass_clean(struct pass *p, struct error *err)
{
	int64_t mono = clock_monotonic_ms();

	if (mono < p->clean_at)
		return 0;
	p->clean_at = mono + p->settings->clean_every;
	if (days_drop_left_over(p->ch, err) < 0)
		return -1;
	return cleaning_run(
		p->ch, clock_real_ms() - p->settings->keep_superseded, err);
}

int pass_run(struct pass *pass, struct pass_result *ret, struct error *err)
{
	struct progress last;

	*ret = (struct pass_result){0};
	if (pass_hours(pass, &last, ret, err) < 0)
		return -1;
	if (!ret->more && pass_day(pass, &last, ret, err) < 0)
		return -1;
	return pass_clean(pass, err);
}
