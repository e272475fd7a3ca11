/*
 * journal_files.h - the journals (event_journal.h) that other processes left in
 * a spool's folder.
 *
 * During a hand-over two processes take events, each with a journal of its own,
 * and either may be killed then.  Only the process that has the folder reads
 * what is left, since only it can put it into the spool.
 */
#ifndef REDIRECTOR_EVENTS_JOURNAL_FILES_H
#define REDIRECTOR_EVENTS_JOURNAL_FILES_H

#include "common/error.h"
#include "redirector/events/event_journal.h"

#define JOURNAL_REJECTED "journal.rejected"

struct journal_taker {
	/* Takes the events that a process left undone.  Returns 0 if all of
	 * them are safe elsewhere; then the file is removed.  Returns -1 if
	 * only the first *ret_taken are; then the file stays, with the others
	 * undone. */
	int (*take)(void *arg, const struct journal_rest *rest,
		    size_t *ret_taken, struct error *err);
	/* Called when a file that cannot be read was renamed
	 * (JOURNAL_REJECTED). */
	void (*reject)(void *arg, const struct error *why);
	void *arg;
};

/* Takes the journals of processes that have ended; the caller must have the
 * folder.  Returns -1 on an error of the taker or the disk, or without memory;
 * events that were not taken stay. */
int journal_files_take(const char *dir, const struct journal_taker *taker,
		       struct error *err);

#endif
