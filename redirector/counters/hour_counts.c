#include "redirector/counters/hour_counts.h"

#include <stddef.h>
#include <string.h>

static size_t place_of(int64_t hour)
{
	return (size_t)((uint64_t)hour % HOUR_TABLE_SIZE);
}

/* --- a table -------------------------------------------------------------- */

void hour_table_add(struct hour_table *t, const struct hour_counts *counts)
{
	struct hour_counts *item = &t->items[place_of(counts->hour)];

	if (item->hour > counts->hour)
		return;
	if (item->hour < counts->hour)
		*item = (struct hour_counts){.hour = counts->hour};
	for (size_t i = 0; i < HOUR_COUNTERS; i++)
		item->n[i] += counts->n[i];
}

/* --- a writer's totals ---------------------------------------------------- */

/* Returns false if the place is empty.  If it changes to another hour
 * meanwhile, it is read again: its counts must not be reported for the former
 * hour. */
static bool read_total(const struct hour_total *total, struct hour_counts *ret)
{
	int64_t hour;

	do {
		hour = atomic_load_explicit(&total->hour, memory_order_acquire);
		for (size_t i = 0; i < HOUR_COUNTERS; i++)
			ret->n[i] = atomic_load_explicit(&total->n[i],
							 memory_order_acquire);
	} while (hour !=
		 atomic_load_explicit(&total->hour, memory_order_relaxed));
	ret->hour = hour;
	return hour != 0;
}

int64_t hour_totals_add_to(const struct hour_totals *totals,
			   struct hour_table *to)
{
	/* Read first: counts that were made before it are then read as well. */
	int64_t until = atomic_load(&totals->until_ms);
	struct hour_counts counts;

	for (size_t i = 0; i < HOUR_TABLE_SIZE; i++)
		if (read_total(&totals->items[i], &counts))
			hour_table_add(to, &counts);
	if (atomic_load(&totals->inexact))
		to->inexact = true;
	return until;
}

bool hour_totals_are_empty(const struct hour_totals *totals)
{
	struct hour_counts counts;

	for (size_t i = 0; i < HOUR_TABLE_SIZE; i++) {
		if (!read_total(&totals->items[i], &counts))
			continue;
		for (size_t k = 0; k < HOUR_COUNTERS; k++)
			if (counts.n[k])
				return false;
	}
	return true;
}

/* --- writing -------------------------------------------------------------- */

void hour_writer_init(struct hour_writer *w, struct hour_totals *totals)
{
	memset(w, 0, sizeof(*w));
	w->totals = totals;
	w->at = w->lost;
	/* No hour is that early: the first count finds its own. */
	w->begin_ms = INT64_MIN;
	pthread_mutex_init(&w->lock, NULL);
}

void hour_writer_destroy(struct hour_writer *w)
{
	if (w->totals)
		pthread_mutex_destroy(&w->lock);
}

void hour_writer_flush(struct hour_writer *w, int64_t now_ms)
{
	atomic_store_explicit(&w->totals->until_ms, now_ms,
			      memory_order_release);
}

static void take_place(struct hour_total *total, int64_t hour)
{
	atomic_store(&total->hour, 0);
	for (size_t i = 0; i < HOUR_COUNTERS; i++)
		atomic_store(&total->n[i], 0);
	atomic_store(&total->hour, hour);
}

/* Returns the counts of that hour. */
static _Atomic uint64_t *counts_of(struct hour_writer *w, int64_t hour)
{
	struct hour_total *total = &w->totals->items[place_of(hour)];
	int64_t has = atomic_load_explicit(&total->hour, memory_order_relaxed);

	if (has > hour) {
		atomic_store(&w->totals->inexact, 1);
		return w->lost;
	}
	if (has < hour)
		take_place(total, hour);
	return total->n;
}

void hour_writer_move(struct hour_writer *w, int64_t time_ms)
{
	int64_t hour = time_ms / HOUR_MS;

	w->begin_ms = hour * HOUR_MS;
	w->at = counts_of(w, hour);
}

void hour_writer_count_now(struct hour_writer *w, int64_t hour,
			   enum hour_counter which)
{
	pthread_mutex_lock(&w->lock);
	hour_total_add(&counts_of(w, hour)[which]);
	pthread_mutex_unlock(&w->lock);
}
