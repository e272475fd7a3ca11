/*
 * event_journal.h - click events that a kill of the process must not cost.
 *
 * A file that is mapped into memory, shared: what is written there is the
 * kernel's at once, without a call, and survives the process, though not a loss
 * of power.  An event is put there before it goes anywhere else, and marked as
 * done once somebody keeps it: Kafka, or the spool.  What the next process
 *finds undone, it has to send.
 *
 * Each thread that puts events has a ring of chunks of its own, which it fills
 * one after the other; no lock is taken.  A chunk is filled anew when all of
 *its entries are done, in whatever order and by whatever threads, and the first
 * that can be is: so as few pages as possible are touched, and written to disk.
 *
 * The file, of this machine's byte order:
 *
 *	header   struct file_header in event_journal.c, FILE_HEADER_SIZE bytes
 *	rings    one behind the other, each of `chunks` chunks
 *	chunk    struct chunk: which filling of it this is, where its entries
 *end entry    struct journal_entry, and the event; a multiple of 64 bytes
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

/* What a former process left undone, in the order of their times. */
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

/* --- a journal ------------------------------------------------------------ */

struct event_journal;

struct event_journal_options {
	const char *dir;  /* of this process alone, which it has locked */
	size_t rings;	  /* threads that put events */
	int64_t bytes;	  /* of all rings */
	size_t event_max; /* of such ones a chunk holds a few, at least */
};

/*
 * Opens the file, and reads what is undone in it; nothing may be put yet.  A
 * file that cannot be read is set aside (JOURNAL_REJECTED) and *ret_rejected
 * says why; else its code is ERROR_NONE.
 */
struct event_journal *
event_journal_open(const struct event_journal_options *options,
		   struct error *ret_rejected, struct error *err);
void event_journal_free(struct event_journal *j); /* NULL accepted */

#define JOURNAL_NAME	 "journal"
#define JOURNAL_REJECTED "journal.rejected"

/* Valid until event_journal_begin. */
const struct journal_rest *event_journal_rest(const struct event_journal *j);

/* Forgets what was undone and begins anew.  All of the file's room on the disk
 * is taken now: a full disk does not reach those who put events. */
int event_journal_begin(struct event_journal *j, struct error *err);

/*
 * Copies the event.  Never waits.  NULL: there is no room, since too many are
 * not done, or it is too long.  Each ring belongs to one thread.
 */
struct journal_entry *event_journal_put(struct event_journal *j, size_t ring,
					int64_t time_ms, const void *event,
					size_t len);

#endif
