#include "redirector/hour_counts.h"

#include <stddef.h>
#include <string.h>

static size_t place_of(int64_t hour)
{
	return (size_t)((uint64_t)hour % HOUR_TABLE_SIZE);
}

void hour_table_add(struct hour_table *t, const struct hour_counts *counts)
{
	struct hour_counts *item = &t->items[place_of(counts->hour)];

	if (item->hour > counts->hour) {
		t->inexact = true;
		return;
	}
	if (item->hour < counts->hour)
		*item = (struct hour_counts){.hour = counts->hour};
	for (size_t i = 0; i < HOUR_COUNTERS; i++)
		item->n[i] += counts->n[i];
}

const struct hour_counts *hour_table_find(const struct hour_table *t,
					  int64_t hour)
{
	const struct hour_counts *item = &t->items[place_of(hour)];

	return item->hour == hour ? item : NULL;
}

void hour_writer_init(struct hour_writer *w)
{
	*w = (struct hour_writer){0};
	pthread_mutex_init(&w->lock, NULL);
}

void hour_writer_destroy(struct hour_writer *w)
{
	pthread_mutex_destroy(&w->lock);
}

static void add_pending_locked(struct hour_writer *w)
{
	if (!w->has_pending)
		return;
	hour_table_add(&w->table, &w->pending);
	memset(w->pending.n, 0, sizeof(w->pending.n));
	w->has_pending = false;
}

void hour_writer_add_pending(struct hour_writer *w)
{
	pthread_mutex_lock(&w->lock);
	add_pending_locked(w);
	pthread_mutex_unlock(&w->lock);
}

void hour_writer_flush(struct hour_writer *w, int64_t now_ms)
{
	pthread_mutex_lock(&w->lock);
	add_pending_locked(w);
	w->until_ms = now_ms;
	pthread_mutex_unlock(&w->lock);
}

void hour_writer_move(struct hour_writer *w, int64_t time_ms)
{
	hour_writer_add_pending(w);
	w->pending.hour = time_ms / HOUR_MS;
	w->begin_ms = w->pending.hour * HOUR_MS;
}

void hour_writer_count_now(struct hour_writer *w, int64_t hour,
			   enum hour_counter which)
{
	struct hour_counts one = {.hour = hour};

	one.n[which] = 1;
	pthread_mutex_lock(&w->lock);
	hour_table_add(&w->table, &one);
	pthread_mutex_unlock(&w->lock);
}

static bool is_empty(const struct hour_counts *counts)
{
	for (size_t i = 0; i < HOUR_COUNTERS; i++)
		if (counts->n[i])
			return false;
	return true;
}

int64_t hour_writer_take(struct hour_writer *w, struct hour_table *to)
{
	int64_t until;

	pthread_mutex_lock(&w->lock);
	for (size_t i = 0; i < HOUR_TABLE_SIZE; i++) {
		struct hour_counts *item = &w->table.items[i];

		if (is_empty(item))
			continue;
		hour_table_add(to, item);
		memset(item->n, 0, sizeof(item->n));
	}
	to->inexact = to->inexact || w->table.inexact;
	until = w->until_ms;
	pthread_mutex_unlock(&w->lock);
	return until;
}
