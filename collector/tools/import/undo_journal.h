/*
 * undo_journal.h - the records of an undo of an import.  Those in
 * import_journal let a killed undo go on, keep new imports of the log from
 * beginning, and show settling which rows were taken
 * (aggregator/settle/taken_back.h).  Those in `rescored` keep the changing days
 * from being dropped.
 *
 * All records belong to the log's present epoch.  Two undos at once do the
 * same, so that the records of either are true for both.
 */
#ifndef COLLECTOR_TOOLS_IMPORT_UNDO_JOURNAL_H
#define COLLECTOR_TOOLS_IMPORT_UNDO_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/tools/import/journal.h"
#include "common/clock.h"

/* Hours with the number of the import's rows in each. */
struct undo_hours {
	struct undo_hour {
		uint64_t start; /* seconds since 1970 */
		uint64_t rows;
	} * items; /* in ascending order */
	size_t count;
};
/* Returns the day of an hour, counted from 1970. */
static inline int64_t undo_hour_day(const struct undo_hour *hour)
{
	return (int64_t)hour->start / (CLOCK_DAY / CLOCK_SECOND);
}

void undo_hours_release(struct undo_hours *h);
int undo_hours_add(struct undo_hours *h, uint64_t start, uint64_t rows,
		   struct error *err);
uint64_t undo_hours_rows(const struct undo_hours *h);
/* Returns whether `h` has each hour of `other`, with at least as many rows. */
bool undo_hours_cover(const struct undo_hours *h,
		      const struct undo_hours *other);

/* The progress of the undos of the epoch. */
struct undo_state {
	bool begun;
	bool planned; /* the hours are known; rows may be deleted already */
	struct undo_hours hours;
};

/* Reads the state into *ret, which is empty or has an earlier state. */
int undo_journal_read(struct journal *j, struct undo_state *ret,
		      struct error *err);

/* Records that this run begins an undo: no import of the log can begin. */
int undo_journal_begin(struct journal *j, struct error *err);

/* Records in `rescored` that the days of these hours are changing. */
int undo_journal_protect(struct journal *j, const struct undo_hours *hours,
			 const char *host, struct error *err);

/* Records what is about to be deleted. */
int undo_journal_plan(struct journal *j, const struct undo_hours *hours,
		      struct error *err);

/* Records that all of it is deleted. */
int undo_journal_taken(struct journal *j, struct error *err);

/* Records that all is done: first for the days, then for the log, whose next
 * import has the next epoch. */
int undo_journal_finish(struct journal *j, struct error *err);

/* Ends undos that have deleted nothing: their days may be dropped, and the log
 * may be imported, as before. */
int undo_journal_keep(struct journal *j, struct error *err);

#endif
