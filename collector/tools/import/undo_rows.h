/*
 * undo_rows.h - the rows of an import: counts them by hour, deletes them, and
 * makes their hours stale.
 *
 * Rows of `clicks` are deleted, one day after another.  Reports
 * (ingest_progress) stay, with no rows in them: settling detects changes by the
 * number of reports that touched an hour, so that number must never fall.
 */
#ifndef COLLECTOR_TOOLS_IMPORT_UNDO_ROWS_H
#define COLLECTOR_TOOLS_IMPORT_UNDO_ROWS_H

#include <stdbool.h>

#include "collector/tools/import/journal.h"
#include "collector/tools/import/undo_journal.h"
#include "common/app/app.h"
#include "common/bar.h"
#include "common/error.h"

/* The rows to delete, and the progress. */
struct undo_rows {
	struct app *app;
	struct journal *journal;
	const struct undo_hours *hours;
	const char *host;
	struct bar bar;
	uint64_t days, days_done;
	int64_t logged, protected; /* monotonic ms */
};

/* Counts by hour, the greater of stored and reported rows: rows may be stored
 * without a report, and reports may have rows that are gone. */
int undo_rows_count(const struct journal *j, struct undo_hours *ret,
		    struct error *err);

/* Returns whether the epoch has neither rows nor reports. */
int undo_rows_are_none(const struct journal *j, bool *ret, struct error *err);

/* ERROR_INPUT: a day with rows of the import was dropped. */
int undo_rows_check_dropped(const struct journal *j,
			    const struct undo_hours *hours, struct error *err);

/* Deletes the rows and waits until they are gone; repeating it, also after a
 * kill, is safe.  ERROR_STOPPED: the process is stopping. */
int undo_rows_delete(struct undo_rows *u, struct error *err);

/* Empties the reports, with the same rules as undo_rows_delete. */
int undo_rows_empty_reports(struct undo_rows *u, struct error *err);

/* Makes the hours stale.  If this is repeated, they are settled once more, with
 * the same result. */
int undo_rows_tell(const struct journal *j, const struct undo_hours *hours,
		   const char *host, struct error *err);

#endif
