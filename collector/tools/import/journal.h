/*
 * journal.h - the table import_journal: the known logs, and the next steps of
 * their imports.  It makes each import happen once.
 *
 * Before a batch is inserted, its first and last line are written here, and
 * only then the run checks whether it is still the log's newest.  A run that
 * begins first writes that down and then reads the batches.  So of two runs of
 * one log either the older sees that it must stop, or the newer sees the batch
 * that the older may still send, and sends the same batch under the same token:
 * ClickHouse recognises the second one.
 *
 * Numbers decide which run is newer, not a clock, which may be set back: a run
 * takes one more than the highest number it sees.  If two runs take the same
 * number, the one with the higher `run` is the newer; it only matters that all
 * agree.
 *
 * An undo writes itself down first (undo_journal.h) and searches announced
 * batches afterwards, so either it knows of a batch or that batch's run sees
 * the undo.  The log goes on under another epoch: data of earlier epochs is not
 * used any more.
 *
 * ingest_progress shows from where a log must be read.  Rows stored without a
 * report (a kill in between) are found by their offsets.
 */
#ifndef COLLECTOR_TOOLS_IMPORT_JOURNAL_H
#define COLLECTOR_TOOLS_IMPORT_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/tools/import/log_head.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

enum {
	IMPORT_NAME_MAX = 128, /* name of a log, without the prefix */
	IMPORT_TOPIC_MAX = IMPORT_NAME_MAX + 16,
};

struct journal {
	struct clickhouse *ch;
	uint64_t run;	 /* this run's random number */
	uint64_t number; /* ordered: one more than all before it */
	uint32_t epoch;	 /* how often the log's imports were undone */
	char name[IMPORT_NAME_MAX + 1];
	char topic[IMPORT_TOPIC_MAX]; /* "import:<name>" */
};

/* Kinds of rows; see schemas/clickhouse/import_journal.sql. */
enum journal_what {
	JOURNAL_HEAD = 1,
	JOURNAL_RUN,
	JOURNAL_BATCH, /* "block" in the table */
	JOURNAL_UNDO,
	JOURNAL_TAKEN,
	JOURNAL_UNDONE,
	JOURNAL_KEPT,
};

/* Sets a name that the user chose, of letters, digits and ._:-; `option` is
 * named in the error. */
int journal_set_name(struct journal *j, const char *option, const char *name,
		     struct error *err);

/* Finds the log with this head, or registers it, and sets its name. */
int journal_find_name(struct journal *j, const struct log_head *head,
		      const char *file, struct error *err);

/* Sets epoch and number.  *ret: the table has rows of the log. */
int journal_find_place(struct journal *j, bool *ret, struct error *err);

/* Records that this run has begun.  ERROR_BUSY while an undo of the log's
 * import runs. */
int journal_begin(struct journal *j, const char *file, struct error *err);

/* Writes a row of this run.  `head` may be NULL. */
int journal_write(struct journal *j, enum journal_what what,
		  const struct log_head *head, uint64_t first, uint64_t last,
		  const char *file, struct error *err);

/* SQL condition: rows of an undo of this epoch or a later one, except undos
 * that ended before they deleted anything; parameters: name, epoch. */
#define JOURNAL_SQL_UNDO                                                       \
	"identity = {name:String} AND epoch >= {epoch:UInt32} AND "            \
	"(what IN ('taken', 'undone') OR what = 'undo' AND "                   \
	"(notEmpty(head) OR run NOT IN (SELECT run FROM import_journal "       \
	"WHERE identity = {name:String} AND what = 'kept')))"

/* Reads the last batch that may have been sent and is not reported: its lines,
 * and how long ago it was announced by the server's clock.  *ret_age_ms is -1
 * when there is none. */
int journal_read_late(struct journal *j, uint64_t *ret_first,
		      uint64_t *ret_last, int64_t *ret_age_ms,
		      struct error *err);

/* The position from which a run goes on. */
struct journal_state {
	bool begun; /* lines up to `done` are imported */
	uint64_t done;
	bool pending; /* an earlier run's batch may have been sent */
	uint64_t first, last;
	uint64_t *stored; /* offsets of rows after `done`, ascending */
	size_t stored_count;
};

int journal_read(struct journal *j, struct journal_state *ret_state,
		 struct error *err);
void journal_state_release(struct journal_state *s);
bool journal_is_stored(const struct journal_state *s, uint64_t offset);

/* Records a batch before it is inserted.  ERROR_BUSY: another run has begun
 * since, or an undo runs; this run must stop. */
int journal_announce(struct journal *j, uint64_t first, uint64_t last,
		     const char *file, struct error *err);

#endif
