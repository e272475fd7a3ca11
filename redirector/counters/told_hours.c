#include "redirector/counters/told_hours.h"

#include <string.h>

/* --- results of records --------------------------------------------------- */

void receipt_expect(struct receipt *r)
{
	atomic_fetch_add(&r->pending, 1);
}

/* The failure is set first: a thread that finds all results known finds it,
 * too. */
void receipt_note(struct receipt *r, bool stored)
{
	if (!stored)
		atomic_store(&r->failed, true);
	atomic_fetch_sub(&r->pending, 1);
}

bool receipt_is_complete(const struct receipt *r)
{
	return atomic_load(&r->pending) == 0;
}

bool receipt_has_failed(const struct receipt *r)
{
	return atomic_load(&r->failed);
}

bool receipt_take_failure(struct receipt *r)
{
	return atomic_exchange(&r->failed, false);
}

/* --- which hours to report ------------------------------------------------ */

static bool is_recent(struct told_hours *t, size_t place,
		      const struct hour_counts *counts, int64_t now)
{
	struct hour_counts *told = &t->told.items[place];

	if (memcmp(told, counts, sizeof(*told)) != 0) {
		*told = *counts;
		t->changed[place] = now;
	}
	return t->changed[place] && now - t->changed[place] < HOUR_MS;
}

/* A place without an hour is not reported, although the present hour may have
 * been reported from there: if nothing was counted in it, it is not in the
 * table. */
bool told_hours_take(struct told_hours *t, size_t place,
		     const struct hour_counts *counts, int64_t now)
{
	bool failed = receipt_take_failure(&t->receipts[place]);

	return counts->hour && (is_recent(t, place, counts, now) || failed);
}

size_t told_hours_count_failed(const struct told_hours *t)
{
	size_t count = 0;

	for (size_t i = 0; i < HOUR_TABLE_SIZE; i++)
		count += receipt_has_failed(&t->receipts[i]);
	return count;
}
