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
	char name[IMPORT_NAME_MAX + 1];
	char topic[IMPORT_TOPIC_MAX]; /* "import:<name>" */
};

/* Sets a name that was chosen by hand: letters, digits and ._:- */
int journal_set_name(struct journal *j, const char *name, struct error *err);

/* Finds the log that begins like this, or makes it known, and sets its name. */
int journal_find_name(struct journal *j, const struct log_head *head,
		      const char *file, struct error *err);

/* Writes down that this run has begun. */
int journal_begin(struct journal *j, const char *file, struct error *err);

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
 * run has begun since: this one is to stop. */
int journal_announce(struct journal *j, uint64_t first, uint64_t last,
		     const char *file, struct error *err);

#endif
