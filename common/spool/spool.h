/*
 * spool.h - keeps records on disk until the receiver has them.
 *
 * A spool is a folder of segments (segment.h), which are written at the end and
 * read from the front, in the same order; segments whose records are done are
 * removed.  It belongs to one thread, and its folder to one process: another
 * process is refused while this one lives.
 *
 * An appended record survives a kill of the process, but not a loss of power
 * before spool_sync.  Each record has a number and a CRC: a record that cannot
 * be read is skipped and counted, and half a record at the end, which a kill
 * leaves, is ignored.
 *
 * `maybe_sent` of a record that is read means that the receiver may have it
 * already: the record was appended with that flag, or an earlier process may
 * have returned it and ended before it noted that the record arrived.
 */
#ifndef COMMON_SPOOL_SPOOL_H
#define COMMON_SPOOL_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/spool/spool_record.h"

struct spool;

struct spool_options {
	const char *dir;       /* created with mode 0700 if its parent exists */
	int64_t max_bytes;     /* limit for all segments */
	int64_t segment_bytes; /* the size at which a new one is begun; 0: a
				  sixteenth of max_bytes, at most 64 MiB */
};

/*
 * Opens the spool; records of an earlier process will be read.  ERROR_BUSY:
 * another process has the folder.  ERROR_CONFIG: a segment of another version.
 * ERROR_SYSTEM: the folder cannot be created or written to.
 */
struct spool *spool_open(const struct spool_options *options,
			 struct error *err);
/* Writes the position first.  NULL accepted. */
void spool_free(struct spool *s);

/*
 * Appends records in order and assigns their numbers.  *ret_appended of them
 * are in the files when it returns, all of them on success.  ERROR_FULL:
 * max_bytes; ERROR_SYSTEM: the disk.  A record that is not appended leaves no
 * bytes behind.
 */
int spool_append(struct spool *s, struct spool_record *records, size_t count,
		 size_t *ret_appended, struct error *err);

/*
 * Returns 1 and the next record, valid until the next call of any function but
 * spool_acknowledge; 0 if all were read.  Both set *ret_lost to the number of
 * unreadable records before it.  Returns -1 for an error of the disk; it may be
 * tried again.
 */
int spool_next(struct spool *s, struct spool_record *ret, uint64_t *ret_lost,
	       struct error *err);

/* Returns the number of the record that spool_next reads next. */
uint64_t spool_next_number(const struct spool *s);

/* Marks all records below `number`, of those that were read, as done.  They are
 * not returned again after a kill of the process; after a loss of power those
 * are that were acknowledged since spool_sync.  Each call costs a system call:
 * acknowledge many at a time. */
void spool_acknowledge(struct spool *s, uint64_t number);

/* Writes the position, and waits until appended records survive a loss of
 * power.  -1: some of those appended since the last call may not. */
int spool_sync(struct spool *s, struct error *err);

struct spool_usage {
	uint64_t records; /* not acknowledged */
	int64_t bytes;	  /* bytes of all segments */
	/* time_ms of the next record to be read; 0: there is none. */
	int64_t next_ms;
};
void spool_usage(struct spool *s, struct spool_usage *ret);

#endif
