/*
 * told_hours.h - which hours a report of counters (counters_report.h) contains:
 * those that have changed within the last hour, and those of which a record was
 * not stored, however long ago they changed.
 *
 * Belongs to the thread that reports.  The result of a record may arrive on
 * another thread.
 */
#ifndef REDIRECTOR_COUNTERS_TOLD_HOURS_H
#define REDIRECTOR_COUNTERS_TOLD_HOURS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "redirector/counters/hour_counts.h"

/* The results of the records of one hour, or of one file.  Zeroed: no
 * records. */
struct receipt {
	atomic_size_t pending; /* records without a result */
	atomic_bool failed;    /* a record was not stored */
};

/* The first is called before a record is handed over, the second once it is
 * known whether the record is stored.  Callable from any thread. */
void receipt_expect(struct receipt *r);
void receipt_note(struct receipt *r, bool stored);

/* True if all results are known. */
bool receipt_is_complete(const struct receipt *r);

bool receipt_has_failed(const struct receipt *r);

/* Returns the same and clears it: the caller sends the counts again. */
bool receipt_take_failure(struct receipt *r);

/* The hours that were reported; zeroed at first. */
struct told_hours {
	struct hour_table told;
	int64_t changed[HOUR_TABLE_SIZE]; /* monotonic ms, as last reported */
	struct receipt receipts[HOUR_TABLE_SIZE]; /* one per place */
};

/* Returns whether that place of the table is to be reported at `now` (monotonic
 * ms).  If so, the caller reports it. */
bool told_hours_take(struct told_hours *t, size_t place,
		     const struct hour_counts *counts, int64_t now);

/* Returns the number of places with a record that was not stored and is to be
 * sent again. */
size_t told_hours_count_failed(const struct told_hours *t);

#endif
