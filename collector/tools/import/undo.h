/*
 * undo.h - takes an import back: its rows are deleted, and the hours that had
 * them are settled again, as if it had never been.
 *
 * Each step is written down before it is taken (undo_journal.h), and does no
 * harm when it is taken twice: an undo that was killed is run again.
 */
#ifndef COLLECTOR_TOOLS_IMPORT_UNDO_H
#define COLLECTOR_TOOLS_IMPORT_UNDO_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/collector_config.h"
#include "common/app/app.h"
#include "common/error.h"

/*
 * `identity`: the log's name, "import:" before it or not.  Reports on stdout.
 * `wait_ms`: how long ClickHouse may be away; `dry_run`: only reports.
 * ERROR_NOTFOUND: nothing was ever imported under that name.  ERROR_INPUT:
 * it was taken back already, or days that it brought rows to were dropped;
 * nothing is changed.  ERROR_STOPPED: the next one goes on.
 */
int import_undo(struct app *app, const struct collector_config *config,
		const char *identity, int64_t wait_ms, bool dry_run,
		struct error *err);

#endif
