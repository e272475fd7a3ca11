/*
 * event_journal.h - keeps click events safe from a kill of the process.
 *
 * The journal is a file that is mapped into memory, shared: bytes that are
 * written there belong to the kernel at once, without a call, and survive the
 * process, though not a loss of power.  An event is put there before it goes
 * anywhere else, and marked as done once Kafka or the spool keeps it.  When
 * this process has ended, another one sends the events that it finds undone
 * (journal_files.h).
 *
 * Each thread that puts events has a ring of chunks of its own, which it fills
 * one after the other; no lock is taken.  A chunk is filled again when all of
 * its entries are done, whichever threads did them and in whatever order.  The
 * first such chunk is used: so as few pages as possible are touched, and
 * written to disk.
 *
 * The file, in this machine's byte order:
 *
 *	header   struct journal_header in event_journal.c, FILE_HEADER_SIZE
 *bytes rings    one behind the other, each of `chunks` chunks chunk    struct
 *chunk: which filling of it this is, and where it ends entry    struct
 *journal_entry, and the event; a multiple of 64 bytes
 *
 * `check` is XXH3 of all bytes that follow it in an entry (xxhash.com).
 * `number` combines the place and the filling, so that an old entry is not
 * taken for a new one.
 */
#ifndef REDIRECTOR_EVENTS_EVENT_JOURNAL_H
#define REDIRECTOR_EVENTS_EVENT_JOURNAL_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

enum {
	JOURNAL_VERSION = 1,
};

struct journal_entry {
	_Atomic uint32_t state; /* see the enum in event_journal.c */
	uint32_t reserved;
	uint64_t check;
	uint64_t number;
	int64_t time_ms;
	uint32_t len;
	uint32_t zero;
	char data[];
};

/* Marks the entry as no longer needed: the caller must not touch it afterwards.
 * Callable from any thread. */
void journal_entry_done(struct journal_entry *entry);

/* --- reading -------------------------------------------------------------- */

struct journal_event {
	int64_t time_ms;
	const char *data;
	uint32_t len;
};

/* The events that a process left undone, in the order of their times. */
struct journal_rest {
	struct journal_event *events; /* their `data` points into the file */
	size_t count;
	/* Number of places where entries cannot be read; each had at least
	 * one. */
	size_t damaged;
};

/*
 * Reads the `size` bytes of a file, which may have any content, but must be
 * aligned as malloc aligns.  ERROR_CONFIG: another version; ERROR_DAMAGED: no
 * journal, or one of a wrong size; ERROR_NOMEM.  An empty file, or one of zeros
 * only, gives no events.
 */
int journal_read(const void *bytes, size_t size, struct journal_rest *ret,
		 struct error *err);
void journal_rest_release(struct journal_rest *rest);

/* Marks events as done in the file `fd`, from whose `bytes` they were read; the
 * caller owns the file.  An event that cannot be marked is undone for the next
 * reader. */
void journal_mark_done(int fd, const void *bytes,
		       const struct journal_event *events, size_t count);

/* --- a journal ------------------------------------------------------------ */

struct event_journal;

#define JOURNAL_PREFIX "journal-"

enum {
	/* Journals in a folder at a time.  Each was left by a killed process,
	 * and no other process has taken it.  When there are this many, no new
	 * one is made. */
	JOURNAL_FILES_MAX = 16,
};

struct event_journal_options {
	const char *dir;  /* folder whose owner sends what is left */
	size_t rings;	  /* one for each thread that puts events */
	int64_t bytes;	  /* for all rings together */
	size_t event_max; /* a chunk has room for a few of this size */
};

/* Makes a file with a unique name, and owns it (owned_files.h).  All of its
 * space on the disk is allocated now, so a disk that fills up does not affect
 * the threads that put events.  ERROR_BUSY: there are too many
 * (JOURNAL_FILES_MAX). */
struct event_journal *
event_journal_new(const struct event_journal_options *options,
		  struct error *err);

/* Removes the file, unless it has undone events: these are left to another
 * process.  NULL accepted. */
void event_journal_free(struct event_journal *j);

/*
 * Copies the event.  Never waits.  Returns NULL if there is no room, since too
 * many events are not done, or if the event is too long.  Each ring belongs to
 * one thread.
 */
struct journal_entry *event_journal_put(struct event_journal *j, size_t ring,
					int64_t time_ms, const void *event,
					size_t len);

#endif
