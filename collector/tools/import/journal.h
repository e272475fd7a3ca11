/*
 * journal.h - the table import_journal: which logs are known, and what their
 * imports are about to do.  This is what makes an import happen once.
 *
 * Before a batch is inserted, its first and last line are written here, and
 * only then is it asked whether this run is still the log's newest.  A run that
 * begins writes that down first and reads the batches afterwards.  So of two
 * runs of one log either the older sees that it is to stop, or the newer sees
 * the batch that the older may still send, and sends that very one again under
 * the same token: whichever comes second is recognised.
 *
 * Which is the newer is told by numbers, not by a clock, which may be set back:
 * a run takes one more than the highest it sees.  Of two that take the same the
 * higher `run` is the newer; all that counts is that everybody agrees.
 *
 * An undo writes itself down first (undo_journal.h) and looks for announced
 * batches afterwards, so either it knows of a batch or that batch's run sees
 * the undo.  The log goes on under another epoch: nothing of the one before is
 * looked at any more.
 *
 * Where a log is read from is told by ingest_progress.  Rows stored without it
 * (a kill in between) are found by their offsets.
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
	IMPORT_NAME_MAX = 128, /* of a log, without what is in front */
	IMPORT_TOPIC_MAX = IMPORT_NAME_MAX + 16,
};

struct journal {
	struct clickhouse *ch;
	uint64_t run;	 /* this one's number, drawn */
	uint64_t number; /* and in order: one more than those before it */
	uint32_t epoch;	 /* how often imports of the log were taken back */
	char name[IMPORT_NAME_MAX + 1];
	char topic[IMPORT_TOPIC_MAX]; /* "import:<name>" */
};

/* A row of schemas/clickhouse/import_journal.sql tells this. */
enum journal_what {
	JOURNAL_HEAD = 1,
	JOURNAL_RUN,
	JOURNAL_BATCH, /* "block" in the table */
	JOURNAL_UNDO,
	JOURNAL_TAKEN,
	JOURNAL_UNDONE,
	JOURNAL_KEPT,
};

/* Sets a name that was chosen by hand, of letters, digits and ._:-; `option` is
 * named in the error. */
int journal_set_name(struct journal *j, const char *option, const char *name,
		     struct error *err);

/* Finds the log that begins like this, or makes it known, and sets its name. */
int journal_find_name(struct journal *j, const struct log_head *head,
		      const char *file, struct error *err);

/* Sets epoch and number.  *ret: the table has rows of the log. */
int journal_find_place(struct journal *j, bool *ret, struct error *err);

/* Writes down that this run has begun.  ERROR_BUSY while the log's import is
 * being taken back. */
int journal_begin(struct journal *j, const char *file, struct error *err);

/* Writes a row of this run.  `head` may be NULL. */
int journal_write(struct journal *j, enum journal_what what,
		  const struct log_head *head, uint64_t first, uint64_t last,
		  const char *file, struct error *err);

/* SQL: rows of an undo of this epoch or a later one, but of those that ended
 * before they deleted anything; parameters: name, epoch. */
#define JOURNAL_SQL_UNDO                                                       \
	"identity = {name:String} AND epoch >= {epoch:UInt32} AND "            \
	"(what IN ('taken', 'undone') OR what = 'undo' AND "                   \
	"(notEmpty(head) OR run NOT IN (SELECT run FROM import_journal "       \
	"WHERE identity = {name:String} AND what = 'kept')))"

/* The last batch that may have been sent and is not reported: its lines, and
 * how long ago it was announced by the server's clock.  *ret_age_ms is -1 when
 * there is none. */
int journal_read_late(struct journal *j, uint64_t *ret_first,
		      uint64_t *ret_last, int64_t *ret_age_ms,
		      struct error *err);

/* Where a run goes on. */
struct journal_state {
	bool begun; /* lines up to `done` are imported */
	uint64_t done;
	bool pending; /* a batch of a run before may have been sent */
	uint64_t first, last;
	uint64_t *stored; /* offsets of rows after `done`, ascending */
	size_t stored_count;
};

int journal_read(struct journal *j, struct journal_state *ret_state,
		 struct error *err);
void journal_state_release(struct journal_state *s);
bool journal_is_stored(const struct journal_state *s, uint64_t offset);

/* Writes down a batch that is about to be inserted.  ERROR_BUSY when another
 * run has begun since, or the import is being taken back: this one is to stop.
 */
int journal_announce(struct journal *j, uint64_t first, uint64_t last,
		     const char *file, struct error *err);

#endif
