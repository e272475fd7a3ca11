#include "reclaimer/advise/advice.h"

#include <math.h>
#include <stdio.h>

#include "common/clock.h"

/* --- sizes ---------------------------------------------------------------- */

/* Blocks reclaimed per day, from today and the seven days before. */
static double freed_per_day(const struct space_ledger *l)
{
	int64_t days = LEDGER_DAYS - 1, age = l->now - l->created;
	double span = (double)(days * CLOCK_DAY + l->now % CLOCK_DAY);
	double freed = 0;

	for (size_t i = 0; i < LEDGER_DAYS; i++)
		freed += (double)l->days[i].reclaimed;
	if (age > 0 && (double)age < span)
		span = (double)age;
	/* The count of a space that is minutes old must not be scaled to a
	 * day. */
	if (span < (double)CLOCK_HOUR)
		span = (double)CLOCK_HOUR;
	return freed * (double)CLOCK_DAY / span;
}

static void fill_size(const struct sampling *s, struct advice *a, size_t i)
{
	const struct sample_figures *f = &s->figures;
	struct size_advice *to = &a->sizes[i];
	double ratio = (double)f->block_size / f->sizes[i].size;
	double codes = a->live_blocks * f->block_size;

	to->size = f->sizes[i].size;
	to->trapped = estimate_trapped(f, i, a->live_blocks);
	to->given_back = (estimate_trapped(f, f->present, a->live_blocks).mean -
			  to->trapped.mean) *
			 codes;
	to->given_back_error = to->trapped.error * codes;
	to->markers = (double)s->issued * ratio;
	to->marker_bytes = to->markers * (double)s->marker_bytes;
	to->reads_per_day = a->freed_per_day * ratio;
	if (s->markers_per_second > 0)
		to->read_seconds_per_day =
			to->reads_per_day / s->markers_per_second;
	to->opens_per_million = 1e6 / to->size;
	to->wait = i <= f->present ? estimate_wait(f, i) : -1;
}

/* Whether all markers of this size may take that much memory. */
static bool is_light(const struct advice *a, const struct size_advice *size)
{
	return a->links_bytes <= 0 || size->marker_bytes <= 0 ||
	       size->marker_bytes <= ADVICE_MARKERS * a->links_bytes;
}

static size_t best_smaller(const struct advice *a, bool *ret_heavy)
{
	size_t best = a->present;

	for (size_t i = a->present; i-- > 0;) {
		double gain =
			a->sizes[best].trapped.mean - a->sizes[i].trapped.mean;

		if (gain < ADVICE_GAIN || gain <= a->sizes[i].trapped.error)
			continue;
		if (is_light(a, &a->sizes[i]))
			best = i;
		else
			*ret_heavy = true;
	}
	return best;
}

static size_t best_larger(const struct advice *a)
{
	size_t best = a->present;

	for (size_t i = a->present + 1; i < a->size_count; i++)
		if (a->sizes[i].trapped.mean + a->sizes[i].trapped.error -
			    a->sizes[a->present].trapped.mean <
		    ADVICE_LOSS)
			best = i;
	return best;
}

static void choose_size(const struct sampling *s, struct advice *a)
{
	const struct size_advice *now = &a->sizes[a->present], *to;
	bool heavy = false;

	a->best = best_smaller(a, &heavy);
	if (a->best == a->present && s->ended >= ADVICE_SAMPLE)
		a->best = best_larger(a);
	to = &a->sizes[a->best];
	if (!a->enough)
		a->best = a->present;
	if (!a->enough)
		snprintf(a->size_reason, sizeof(a->size_reason),
			 "only %ju live blocks could be looked at, fewer than "
			 "%d: nothing can be advised",
			 (uintmax_t)s->figures.blocks, ADVICE_SAMPLE);
	else if (a->best < a->present)
		snprintf(a->size_reason, sizeof(a->size_reason),
			 "blocks of %u would set %.0f +- %.0f codes free now, "
			 "%.1f %% of those of live blocks, for %.0f more "
			 "markers",
			 to->size, to->given_back, to->given_back_error,
			 100 * (now->trapped.mean - to->trapped.mean),
			 to->markers - now->markers);
	else if (a->best > a->present)
		snprintf(a->size_reason, sizeof(a->size_reason),
			 "blocks of %u would trap only %.1f %% more codes and "
			 "spare %.0f markers",
			 to->size, 100 * (to->trapped.mean - now->trapped.mean),
			 now->markers - to->markers);
	else
		snprintf(a->size_reason, sizeof(a->size_reason),
			 "blocks of %u do well: %.1f +- %.1f %% of the codes "
			 "of live blocks are trapped, and no other size %s",
			 now->size, 100 * now->trapped.mean,
			 100 * now->trapped.error,
			 heavy ? "gives back enough for what its markers weigh"
			       : "gives back much more or costs much less");
}

/* --- intervals ------------------------------------------------------------ */

static const int64_t intervals[INTERVALS] = {CLOCK_MINUTE, 10 * CLOCK_MINUTE,
					     CLOCK_HOUR,   6 * CLOCK_HOUR,
					     CLOCK_DAY,	   7 * CLOCK_DAY};

static int64_t shortest_ttl(const struct linkstore *store)
{
	int64_t shortest = DURATION_NEVER;

	for (size_t i = 0; i < linkstore_class_count(store); i++)
		if (linkstore_class(store, i)->ttl < shortest)
			shortest = linkstore_class(store, i)->ttl;
	return shortest;
}

/* `short_enough`: the wait is within the limit. */
static void tell_interval(struct advice *a, bool short_enough,
			  int64_t quarantine, int64_t ttl)
{
	int64_t interval = intervals[a->best_interval];
	char text[DURATION_TEXT_MAX], wait[DURATION_TEXT_MAX];

	duration_format(interval, text);
	duration_format(interval / 2, wait);
	if (short_enough)
		snprintf(a->interval_reason, sizeof(a->interval_reason),
			 "every %s: a code waits %s more on average, which is "
			 "little beside a quarantine of %.0f s%s; running more "
			 "often reads no fewer markers",
			 text, wait, (double)quarantine / 1000,
			 ttl == DURATION_NEVER ? "" : " or the shortest TTL");
	else
		snprintf(a->interval_reason, sizeof(a->interval_reason),
			 "every %s, the shortest interval looked at: a code "
			 "waits %s more on average, which is not little beside "
			 "a quarantine of %.0f s%s",
			 text, wait, (double)quarantine / 1000,
			 ttl == DURATION_NEVER ? "" : " or the shortest TTL");
}

static void choose_interval(const struct sampling *s, struct advice *a)
{
	const struct linkstore *store = s->space->store;
	int64_t quarantine = linkstore_config(store)->quarantine;
	int64_t ttl = shortest_ttl(store);
	double bound = (double)quarantine / 10;
	bool short_enough = false;

	if (ttl != DURATION_NEVER && ADVICE_DELAY * (double)ttl > bound)
		bound = ADVICE_DELAY * (double)ttl;
	for (size_t i = 0; i < INTERVALS; i++) {
		double half = (double)intervals[i] / 2;

		a->intervals[i] = (struct interval_advice){
			.interval = intervals[i],
			.delay = half + (double)quarantine,
			.idle = a->freed_per_day * s->space->block_size * half /
				(double)CLOCK_DAY,
			.runs_per_day =
				(double)CLOCK_DAY / (double)intervals[i],
		};
		if (half > bound)
			continue;
		a->best_interval = i;
		short_enough = true;
	}
	tell_interval(a, short_enough, quarantine, ttl);
}

void advice_make(const struct sampling *s, const struct space_ledger *ledger,
		 struct advice *ret)
{
	const struct sample_figures *f = &s->figures;
	double live_codes = 0;

	*ret = (struct advice){
		.size_count = f->size_count,
		.present = f->present,
		.best = f->present,
		.live_blocks = sampling_population(s),
		.freed_per_day = freed_per_day(ledger),
		.enough = f->blocks >= ADVICE_SAMPLE,
	};
	if (f->blocks)
		live_codes = (double)f->live_codes / (double)f->blocks *
			     ret->live_blocks;
	ret->links_bytes = live_codes * (double)s->link_bytes;
	for (size_t i = 0; i < f->size_count; i++)
		fill_size(s, ret, i);
	choose_size(s, ret);
	choose_interval(s, ret);
}
