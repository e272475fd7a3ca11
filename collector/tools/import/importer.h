/* importer.h - one log after another into ClickHouse. */
#ifndef COLLECTOR_TOOLS_IMPORT_IMPORTER_H
#define COLLECTOR_TOOLS_IMPORT_IMPORTER_H

#include <stdbool.h>
#include <stdio.h>

#include "collector/collector_config.h"
#include "collector/tools/access_log/access_format.h"
#include "collector/tools/import/visit_click.h"
#include "common/app/app.h"
#include "common/error.h"

struct import_options {
	struct visit_rules rules; /* event_id is filled per log */
	const char *identity;	  /* NULL: found by how the log begins */
	FILE *rejects;		  /* NULL: none */
	bool dry_run;		  /* reads and reports, asks no server */
	int64_t wait_ms;	  /* for a server that is away */
};

struct importer;

/* All given must outlive it.  `format` is taken over, on failure too. */
struct importer *importer_new(struct app *app,
			      const struct collector_config *config,
			      const struct import_options *options,
			      struct access_format *format, struct error *err);
void importer_free(struct importer *im); /* NULL accepted */

/*
 * Imports what is new of a log ("-": standard input) and reports on stdout.
 * *ret_unreadable: lines that could not be read.  ERROR_BUSY: another import of
 * that log runs, or it was told to stop; the next goes on from there.
 */
int importer_run(struct importer *im, const char *path,
		 uint64_t *ret_unreadable, struct error *err);

#endif
