#include "aggregator/settle/hour_turns.h"

#include <stdlib.h>

#include "aggregator/settle/hour_settlement.h"
#include "common/clock.h"

#define HOUR 3600

struct round {
	const struct settling *s;
	struct open_hours *open;
	const struct progress *last;
	struct hours_settled *ret;
	struct error *first;
	int64_t now; /* ms, at the beginning: an hour stays in its class */
};

void hour_turns_init(struct hour_turns *turns)
{
	for (size_t i = 0; i < HOUR_CLASSES; i++)
		turns->classes[i] = (struct hour_turn){-1, -1, false};
}

static int64_t end_of(const struct stale *hour)
{
	return (hour->start + HOUR) * CLOCK_SECOND;
}

static bool is_awaited(const struct round *r, const struct stale *hour)
{
	return end_of(hour) > r->last->complete_until;
}

static enum hour_class class_of(const struct round *r, const struct stale *hour)
{
	if (end_of(hour) > r->now - CLOCK_HOUR)
		return HOURS_PRESENT;
	return is_awaited(r, hour) ? HOURS_AWAITED : HOURS_BEHIND;
}

static void record_left_hours(struct round *r, const struct stale *hours,
			      size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (is_awaited(r, &hours[i]) &&
		    hours[i].start < r->ret->left_from)
			r->ret->left_from = hours[i].start;
	}
	r->ret->left += count;
}

/* The hour behind the last that had its turn, or the first one again. */
static size_t next_turn(const struct stale *hours, size_t count, int64_t after)
{
	size_t next = 0;

	while (next < count && hours[next].start <= after)
		next++;
	return next < count ? next : 0;
}

/* Whether no hour can be settled now. */
static bool ends_all(const struct round *r, const struct error *err)
{
	return err->code == ERROR_STOPPED ||
	       (err->code == ERROR_REMOTE && !clickhouse_last_code(r->s->ch));
}

static void keep_first_error(struct round *r, const struct error *err)
{
	if (!r->first->code)
		*r->first = *err;
}

/* Hours that are computed, or published, together also fail together. */
struct trial {
	size_t most;   /* at most this many are tried */
	int64_t until; /* monotonic ms; 0: what one statement computes */
	bool again;    /* some failed, and were retried unchanged */
	/* The last failure of several hours; code 0: none. */
	struct error together;
};

/*
 * Settles the first of the hours, or leaves it.  Hours that fail together are
 * retried once, as the failure may have passed, and then by halves, until the
 * hour that fails alone is found.  *ret_done: number of hours that had their
 * turn, 0 if they have to be tried again.
 */
static int take_next(struct round *r, const struct stale *hours, size_t count,
		     struct trial *t, size_t *ret_done, struct error *err)
{
	size_t most = count < t->most ? count : t->most;
	struct settle_count n;
	int status;

	settling_take_turn(r->s);
	status = hours_settle(r->s, hours, most, t->until, r->open, r->last, &n,
			      err);
	settling_end_turn(r->s);
	r->ret->hours += n.published;
	r->ret->added += n.added;
	*ret_done = n.done;
	if (status == 0)
		return 0;
	if (ends_all(r, err))
		return -1;
	if (n.done > 1) {
		t->most = t->again ? n.done / 2 : n.done;
		t->again = true;
		t->together = *err;
		*ret_done = 0;
		return 0;
	}
	keep_first_error(r, err);
	record_left_hours(r, hours, 1);
	t->most = SIZE_MAX;
	t->again = false;
	return 0;
}

/*
 * Called when `done` hours got no answer.  Mostly the server or the network is
 * the reason, so they are tried again; the second time the hours themselves may
 * be the reason, and they are skipped.
 */
static void pass_over(struct hour_turn *turn, const struct stale *hours,
		      size_t done)
{
	if (turn->unanswered == hours->start && done)
		turn->after = hours[done - 1].start;
	turn->unanswered = hours->start;
	turn->singly = true;
}

static int take_class(struct round *r, struct hour_turn *turn,
		      const struct stale *hours, size_t count,
		      struct error *err)
{
	int64_t until = clock_monotonic_ms() + r->s->settings->settle_every;
	size_t begin = next_turn(hours, count, turn->after), next = begin, done;
	struct trial trial = {.most = SIZE_MAX,
			      .until = turn->singly ? 0 : until};

	record_left_hours(r, hours, begin);
	while (next < count &&
	       (next == begin || clock_monotonic_ms() < until)) {
		if (take_next(r, &hours[next], count - next, &trial, &done,
			      err) < 0) {
			pass_over(turn, &hours[next], done);
			return -1;
		}
		next += done;
		if (done)
			turn->after = hours[next - 1].start;
	}
	if (trial.together.code)
		keep_first_error(r, &trial.together);
	record_left_hours(r, &hours[next], count - next);
	if (next < count) {
		r->ret->more = true;
		return 0;
	}
	turn->after = -1;
	if (!begin)
		turn->singly = false;
	return 0;
}

int hour_turns_take(struct hour_turns *turns, const struct settling *s,
		    const struct stale_list *stale, struct open_hours *open,
		    const struct progress *last, struct hours_settled *ret,
		    struct error *first, struct error *err)
{
	struct round r = {s, open, last, ret, first, settling_now(s)};
	struct stale *hours = NULL;
	int status = 0;

	*ret = (struct hours_settled){.left_from = INT64_MAX};
	if (!stale->count)
		return 0;
	hours = malloc(stale->count * sizeof(*hours));
	if (!hours)
		return error_set_nomem(err);
	for (size_t c = 0; status == 0 && c < HOUR_CLASSES; c++) {
		size_t count = 0;

		for (size_t i = 0; i < stale->count; i++)
			if (class_of(&r, &stale->items[i]) == c)
				hours[count++] = stale->items[i];
		if (count)
			status = take_class(&r, &turns->classes[c], hours,
					    count, err);
	}
	free(hours);
	return status;
}
