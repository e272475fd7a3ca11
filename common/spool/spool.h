/*
 * spool.h - records kept on disk until somebody else has them.
 *
 * A folder of segments (segment.h), written at the end and read from the front,
 * both in the same order; those that are done with are removed.  Belongs to one
 * thread, and its folder to one process: another is refused while this one
 * lives.
 *
 * What was appended survives a kill of the process, not a loss of power before
 * spool_sync.  Each record is numbered and has a CRC: one that cannot be read
 * is passed over and counted, and half a record at the end, as a kill leaves
 * it, is none.
 *
 * `maybe_sent` of a record that is read says that somebody may have it already:
 * it was appended so, or a former process may have handed it over and did not
 * live to note that it arrived.
 */
#ifndef COMMON_SPOOL_SPOOL_H
#define COMMON_SPOOL_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/spool/record.h"

struct spool;

struct spool_options {
	const char *dir;       /* made, mode 0700, if its parent is there */
	int64_t max_bytes;     /* of all segments */
	int64_t segment_bytes; /* a new one is begun beyond; 0: a sixteenth of
				  max_bytes, at most 64 MiB */
};

/*
 * What a former process left is to be read.  ERROR_BUSY: another process has
 * the folder.  ERROR_CONFIG: a segment of another version.  ERROR_SYSTEM: the
 * folder cannot be made or written to.
 */
struct spool *spool_open(const struct spool_options *options,
			 struct error *err);
/* Notes the position first.  NULL accepted. */
void spool_free(struct spool *s);

/*
 * Appends them in order; their numbers are given here.  *ret_appended are in
 * the files when it returns, all of them on success.  ERROR_FULL: max_bytes;
 * ERROR_SYSTEM: the disk.  What is not appended leaves nothing behind.
 */
int spool_append(struct spool *s, struct spool_record *records, size_t count,
		 size_t *ret_appended, struct error *err);

/*
 * Returns 1 and the next record, valid until the next call of any function but
 * spool_acknowledge; 0 when all were read.  Both set *ret_lost: how many before
 * it cannot be read.  -1: the disk, which may be tried again.
 */
int spool_next(struct spool *s, struct spool_record *ret, uint64_t *ret_lost,
	       struct error *err);

/* The number of the record that spool_next comes to next. */
uint64_t spool_next_number(const struct spool *s);

/* All records below `number`, of those that were read, are done with.  They do
 * not come again after a kill of the process; after a loss of power those do
 * that were acknowledged since spool_sync.  Costs a call of the kernel: tell
 * many at a time. */
void spool_acknowledge(struct spool *s, uint64_t number);

/* Notes the position, and waits until what was appended survives a loss of
 * power.  -1: some of what was appended since the last call may not. */
int spool_sync(struct spool *s, struct error *err);

struct spool_usage {
	uint64_t records; /* not acknowledged */
	int64_t bytes;	  /* of all segments */
	/* time_ms of the next record to be read; 0: there is none. */
	int64_t next_ms;
};
void spool_usage(struct spool *s, struct spool_usage *ret);

#endif
