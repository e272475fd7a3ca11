/*
 * undo_rows.h - the rows of an import: counts them by hour, deletes them, and
 * makes their hours stale.
 *
 * Rows of `clicks` are deleted, a day after the other.  Reports
 * (ingest_progress) stay and say that they brought no rows: how many reports
 * touched an hour is how settling knows that something changed, so that number
 * never falls.
 */
#ifndef COLLECTOR_TOOLS_IMPORT_UNDO_ROWS_H
#define COLLECTOR_TOOLS_IMPORT_UNDO_ROWS_H

#include <stdbool.h>

#include "collector/tools/import/journal.h"
#include "collector/tools/import/undo_journal.h"
#include "common/app/app.h"
#include "common/bar.h"
#include "common/error.h"

/* Which rows, and how far it is. */
struct undo_rows {
	struct app *app;
	struct journal *journal;
	const struct undo_hours *hours;
	const char *host;
	struct bar bar;
	uint64_t days, days_done;
	int64_t logged, protected; /* monotonic ms */
};

/* By hour, as many as there are rows or as were reported: rows may be there
 * that no report tells of, and reports of rows that are gone. */
int undo_rows_count(const struct journal *j, struct undo_hours *ret,
		    struct error *err);

/* Whether the epoch has neither rows nor reports. */
int undo_rows_are_none(const struct journal *j, bool *ret, struct error *err);

/* ERROR_INPUT: a day that the import brought rows to was dropped. */
int undo_rows_check_dropped(const struct journal *j,
			    const struct undo_hours *hours, struct error *err);

/* Deletes the rows and waits until they are gone; carried out twice, or once
 * more after a kill, it does no harm.  ERROR_STOPPED: told to stop. */
int undo_rows_delete(struct undo_rows *u, struct error *err);

/* Empties the reports.  As undo_rows_delete. */
int undo_rows_empty_reports(struct undo_rows *u, struct error *err);

/* Makes the hours stale.  Twice, they are settled once more, to the same. */
int undo_rows_tell(const struct journal *j, const struct undo_hours *hours,
		   const char *host, struct error *err);

#endif
