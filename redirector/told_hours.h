/*
 * told_hours.h - which hours a report of counters (counters_report.h) tells:
 * those that have changed within the last hour, and those of which a record was
 * not stored, however long ago they changed.
 *
 * It belongs to the thread that reports.  What became of a record may come on
 * another one.
 */
#ifndef REDIRECTOR_TOLD_HOURS_H
#define REDIRECTOR_TOLD_HOURS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "redirector/hour_counts.h"

/* What became of the records of one hour, or of one file.  Zeroed, there is
 * none. */
struct receipt {
	atomic_size_t pending; /* nobody knows yet */
	atomic_bool failed;    /* one was not stored */
};

/* Once before a record is handed over, and once when it is known whether it is
 * stored.  From any thread. */
void receipt_expect(struct receipt *r);
void receipt_note(struct receipt *r, bool stored);

/* True where all is known. */
bool receipt_is_complete(const struct receipt *r);

bool receipt_has_failed(const struct receipt *r);

/* The same, and forgets it: what failed is told again. */
bool receipt_take_failure(struct receipt *r);

/* Zeroed, nothing was told. */
struct told_hours {
	struct hour_table told;
	int64_t changed[HOUR_TABLE_SIZE]; /* monotonic ms, as told last */
	struct receipt receipts[HOUR_TABLE_SIZE]; /* of the places' records */
};

/* Whether what stands in that place of the table is to be told at `now`
 * (monotonic ms).  If so, the caller tells it. */
bool told_hours_take(struct told_hours *t, size_t place,
		     const struct hour_counts *counts, int64_t now);

/* Of how many places a record was not stored that is to be told again. */
size_t told_hours_count_failed(const struct told_hours *t);

#endif
