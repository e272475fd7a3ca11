/*
 * journal_files.h - the journals (event_journal.h) that others left in a
 * spool's folder.
 *
 * Two processes take events at a time where one hands over to the other, each
 * with a journal of its own, and one of them may be killed then.  What is left
 * is read only by who has the folder itself, and can put it into the spool.
 */
#ifndef REDIRECTOR_JOURNAL_FILES_H
#define REDIRECTOR_JOURNAL_FILES_H

#include "common/error.h"
#include "redirector/event_journal.h"

#define JOURNAL_REJECTED "journal.rejected"

struct journal_taker {
	/* What a process left undone.  0: all of it is safe elsewhere, and the
	 * file is removed.  -1: so are the first *ret_taken of its events; the
	 * file stays, with the others undone. */
	int (*take)(void *arg, const struct journal_rest *rest,
		    size_t *ret_taken, struct error *err);
	/* A file that cannot be read was renamed (JOURNAL_REJECTED). */
	void (*reject)(void *arg, const struct error *why);
	void *arg;
};

/* Takes what processes that have ended left; for who has the folder.  -1: the
 * taker's error, the disk, or no memory; what was not taken stays. */
int journal_files_take(const char *dir, const struct journal_taker *taker,
		       struct error *err);

#endif
