/*
 * undo_journal.h - what is written down of an undo of an import: in
 * import_journal, so that one that was killed goes on, no import of the log
 * begins meanwhile, and settling knows which rows were taken
 * (aggregator/settle/taken_back.h); and in `rescored`, so that the days it
 * changes are not dropped.
 *
 * Everything is of the log's present epoch.  Two undos at once do the same, and
 * what either writes is true of both.
 */
#ifndef COLLECTOR_TOOLS_IMPORT_UNDO_JOURNAL_H
#define COLLECTOR_TOOLS_IMPORT_UNDO_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/tools/import/journal.h"
#include "common/clock.h"

/* Hours and how many rows of the import each has. */
struct undo_hours {
	struct undo_hour {
		uint64_t start; /* seconds since 1970 */
		uint64_t rows;
	} * items; /* ascending */
	size_t count;
};
/* The day, since 1970, that it is of. */
static inline int64_t undo_hour_day(const struct undo_hour *hour)
{
	return (int64_t)hour->start / (CLOCK_DAY / CLOCK_SECOND);
}

void undo_hours_release(struct undo_hours *h);
int undo_hours_add(struct undo_hours *h, uint64_t start, uint64_t rows,
		   struct error *err);
uint64_t undo_hours_rows(const struct undo_hours *h);
/* Whether `h` has each hour of `other`, and no fewer rows in it. */
bool undo_hours_cover(const struct undo_hours *h,
		      const struct undo_hours *other);

/* How far the undos of the epoch have come. */
struct undo_state {
	bool begun;
	bool planned; /* the hours are known, and rows may be gone already */
	struct undo_hours hours;
};

/* Reads it into *ret, which is empty or has what was read before. */
int undo_journal_read(struct journal *j, struct undo_state *ret,
		      struct error *err);

/* Writes that this run is about to take back: no import of the log begins. */
int undo_journal_begin(struct journal *j, struct error *err);

/* Writes in `rescored` that the days of these hours are being changed. */
int undo_journal_protect(struct journal *j, const struct undo_hours *hours,
			 const char *host, struct error *err);

/* Writes what is about to be deleted. */
int undo_journal_plan(struct journal *j, const struct undo_hours *hours,
		      struct error *err);

/* Writes that all of it is deleted. */
int undo_journal_taken(struct journal *j, struct error *err);

/* Writes that all is done: first of the days, then of the log, whose next
 * import is of the next epoch. */
int undo_journal_finish(struct journal *j, struct error *err);

/* Ends undos that have deleted nothing: their days may be dropped, and the log
 * may be imported, as before. */
int undo_journal_keep(struct journal *j, struct error *err);

#endif
