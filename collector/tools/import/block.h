/*
 * block.h - the lines of a log that are inserted together.
 *
 * They are gathered as clicks first, so that the archive can be asked about all
 * of them at once, and become rows then.
 */
#ifndef COLLECTOR_TOOLS_IMPORT_BLOCK_H
#define COLLECTOR_TOOLS_IMPORT_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/enrich/enricher.h"
#include "collector/exactly_once/batch.h"
#include "collector/tools/import/journal.h"
#include "collector/tools/import/visit_click.h"
#include "common/arena.h"

enum {
	/* UTC days of one block: each becomes a part of the table. */
	BLOCK_DAYS_MAX = 32
};

struct block_click {
	uint64_t offset;
	Shortloop__Click click;
};

/* Start from zeros, end with block_release. */
struct block {
	struct arena arena; /* of the clicks */
	struct block_click *clicks;
	size_t count, cap;
	size_t bytes; /* of lines taken */
	uint64_t lines;
	uint64_t first, last; /* offsets of lines, while there are some */
	uint64_t unreadable;
	uint32_t days[BLOCK_DAYS_MAX];
	size_t day_count;
	int64_t last_ms; /* time of the last click ever taken */

	struct batch batch; /* what became of them */
	uint64_t stored;    /* of these, rows that were there already */
};

void block_release(struct block *b);
/* Empties it and keeps its memory. */
void block_reset(struct block *b);

/* Each line is noted, whatever is in it. */
void block_note_line(struct block *b, uint64_t offset, size_t len);
void block_note_unreadable(struct block *b);
/* Takes the line just noted as a click, if it is one. */
enum visit_kind block_take(struct block *b, const struct access_visit *visit,
			   const struct visit_rules *rules);

struct block_bounds {
	size_t rows;
	size_t bytes; /* of lines */
	size_t held;  /* bytes of memory, as clicks */
};

/* Enough for an insert? */
bool block_is_full(const struct block *b, const struct block_bounds *max);

/* Fills in whose links they were.  Asks ClickHouse. */
int block_find_owners(struct block *b, struct clickhouse *ch,
		      struct error *err);

/* Makes b->batch of the clicks, without those stored already. */
int block_build(struct block *b, struct enricher *enricher,
		const struct journal *journal,
		const struct journal_state *state, struct error *err);

#endif
