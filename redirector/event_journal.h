/*
 * event_journal.h - click events that a kill of the process must not cost.
 *
 * A file that is mapped into memory, shared: what is written there is the
 * kernel's at once, without a call, and survives the process, though not a loss
 * of power.  An event is put there before it goes anywhere else, and marked as
 * done once somebody keeps it: Kafka, or the spool.  What another process
 * finds undone when this one has ended, it has to send (journal_files.h).
 *
 * Each thread that puts events has a ring of chunks of its own, which it fills
 * one after the other; no lock is taken.  A chunk is filled anew when all
 * entries in it are done, in whatever order and by whatever threads, and the
 * first that can be is: so as few pages as possible are touched, and written to
 * disk.
 *
 * The file, of this machine's byte order:
 *
 *	header   struct file_header in event_journal.c, FILE_HEADER_SIZE bytes
 *	rings    one behind the other, each of `chunks` chunks
 *	chunk    struct chunk: which filling of it this is, and where it ends
 *	entry    struct journal_entry, and the event; a multiple of 64 bytes
 *
 * `check` is XXH3 of all that follows it in an entry (xxhash.com).  `number`
 * names the place and the filling, so that nothing old is taken for new.
 */
#ifndef REDIRECTOR_EVENT_JOURNAL_H
#define REDIRECTOR_EVENT_JOURNAL_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

enum {
	JOURNAL_VERSION = 1,
};

struct journal_entry {
	_Atomic uint32_t state; /* enum in event_journal.c */
	uint32_t reserved;
	uint64_t check;
	uint64_t number;
	int64_t time_ms;
	uint32_t len;
	uint32_t zero;
	char data[];
};

/* The entry is not needed any more: it must not be touched afterwards.  From
 * any thread. */
void journal_entry_done(struct journal_entry *entry);

/* --- reading -------------------------------------------------------------- */

struct journal_event {
	int64_t time_ms;
	const char *data;
	uint32_t len;
};

/* What a process left undone, in the order of their times. */
struct journal_rest {
	struct journal_event *events; /* their data point into the file */
	size_t count;
	/* Places where entries cannot be read; at least one entry each. */
	size_t damaged;
};

/*
 * Reads the `size` bytes of a file, which may be any, but lie as malloc would
 * have them.  ERROR_CONFIG: another version; ERROR_DAMAGED: no journal, or one
 * of another size; ERROR_NOMEM.  An empty file, or one of zeros only, has
 * nothing.
 */
int journal_read(const void *bytes, size_t size, struct journal_rest *ret,
		 struct error *err);
void journal_rest_release(struct journal_rest *rest);

/* Marks events as done in the file `fd`, whose `bytes` they were read from; for
 * its owner.  One that cannot be marked is undone for who reads the file next.
 */
void journal_mark_done(int fd, const void *bytes,
		       const struct journal_event *events, size_t count);

/* --- a journal ------------------------------------------------------------ */

struct event_journal;

#define JOURNAL_PREFIX "journal-"

enum {
	/* In a folder at a time: of processes that were killed since somebody
	 * took what they left.  Who finds so many makes none. */
	JOURNAL_FILES_MAX = 16,
};

struct event_journal_options {
	const char *dir;  /* of those who may send what is left in it */
	size_t rings;	  /* threads that put events */
	int64_t bytes;	  /* of all rings */
	size_t event_max; /* of such ones a chunk holds a few, at least */
};

/* Makes a file of a name of its own, and owns it (owned_files.h).  All of its
 * room on the disk is taken now: a full disk does not reach those who put
 * events.  ERROR_BUSY: there are too many (JOURNAL_FILES_MAX). */
struct event_journal *
event_journal_new(const struct event_journal_options *options,
		  struct error *err);

/* Removes the file, unless something in it is undone: that is left to another
 * process.  NULL accepted. */
void event_journal_free(struct event_journal *j);

/*
 * Copies the event.  Never waits.  NULL: there is no room, since too many are
 * not done, or it is too long.  Each ring belongs to one thread.
 */
struct journal_entry *event_journal_put(struct event_journal *j, size_t ring,
					int64_t time_ms, const void *event,
					size_t len);

#endif
