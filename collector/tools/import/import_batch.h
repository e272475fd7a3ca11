/*
 * import_batch.h - the lines of a log that are inserted together.
 *
 * They are collected as clicks, so that the archive can be queried about all of
 * them at once, and then become rows.
 */
#ifndef COLLECTOR_TOOLS_IMPORT_IMPORT_BATCH_H
#define COLLECTOR_TOOLS_IMPORT_IMPORT_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/enrich/enricher.h"
#include "collector/exactly_once/batch.h"
#include "collector/tools/import/journal.h"
#include "collector/tools/import/visit_click.h"
#include "common/arena.h"
#include "common/clickhouse/clickhouse.h"
#include "linkstore/domains.h"

enum {
	/* Limit of UTC days in a batch: each becomes a part of the table. */
	IMPORT_BATCH_DAYS_MAX = 32
};

struct import_click {
	uint64_t offset;
	Shortloop__Click click;
};

/* Start from zeros, end with import_batch_release. */
struct import_batch {
	struct arena arena; /* for the clicks */
	struct import_click *clicks;
	size_t count, cap;
	size_t bytes; /* size of the lines taken */
	uint64_t lines;
	uint64_t first, last; /* offsets of lines, valid if there are any */
	uint64_t unreadable;
	uint32_t days[IMPORT_BATCH_DAYS_MAX];
	size_t day_count;
	int64_t last_ms; /* time of the last click taken */

	struct batch batch; /* the rows to insert */
	/* Number of rows left out because they are stored. */
	uint64_t stored;
	/* Number of clicks whose code is a link's under other hosts only. */
	uint64_t misplaced;
	const Shortloop__Click *first_misplaced;
};

void import_batch_release(struct import_batch *b);
/* Empties it and keeps its memory. */
void import_batch_reset(struct import_batch *b);

/* Each line must be noted, whatever it contains. */
void import_batch_note_line(struct import_batch *b, uint64_t offset,
			    size_t len);
void import_batch_note_unreadable(struct import_batch *b);
/* Takes the noted line as a click, if it is one. */
enum visit_kind import_batch_take(struct import_batch *b,
				  const struct access_visit *visit,
				  const struct visit_rules *rules);

struct import_batch_limits {
	size_t rows;
	size_t bytes;  /* size of lines */
	size_t memory; /* bytes used by the clicks */
};

/* Returns whether the batch is large enough for an insert. */
bool import_batch_is_full(const struct import_batch *b,
			  const struct import_batch_limits *max);

/* Sets the links of the clicks, except those that the redirector would not show
 * under the host of the line.  Queries ClickHouse. */
int import_batch_find_links(struct import_batch *b, struct clickhouse *ch,
			    const struct domains *domains, struct error *err);

/* Makes b->batch from the clicks, without those that are stored already. */
int import_batch_build(struct import_batch *b, struct enricher *enricher,
		       const struct journal *journal,
		       const struct journal_state *state, struct error *err);

#endif
