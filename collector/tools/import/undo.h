/*
 * undo.h - undoes an import: its rows are deleted, and the hours that had them
 * are settled again, as if the import had never happened.
 *
 * Each step is recorded before it is done (undo_journal.h), and is safe to
 * repeat: an undo that was killed can be run again.
 */
#ifndef COLLECTOR_TOOLS_IMPORT_UNDO_H
#define COLLECTOR_TOOLS_IMPORT_UNDO_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/collector_config.h"
#include "common/app/app.h"
#include "common/error.h"

/*
 * `identity`: the log's name, with or without "import:" before it.  Reports on
 * stdout.  `wait_ms`: how long ClickHouse may be away; `dry_run`: only reports.
 * ERROR_NOTFOUND: nothing was ever imported under that name.  ERROR_INPUT: it
 * was undone already, or days with its rows were dropped; nothing is changed.
 * ERROR_STOPPED: the next undo goes on.
 */
int import_undo(struct app *app, const struct collector_config *config,
		const char *identity, int64_t wait_ms, bool dry_run,
		struct error *err);

#endif
