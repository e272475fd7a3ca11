/*
 * segment.h - one file of a spool: a header, followed by records.
 *
 * Its name is the number of its first record, sixteen hexadecimal digits, and
 * ".segment", so that names sort like records.  It begins with 32 bytes:
 * "SLspool", a 0, the version (4 bytes, little-endian), the rest 0.
 */
#ifndef COMMON_SPOOL_SEGMENT_H
#define COMMON_SPOOL_SEGMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/spool/spool_record.h"

enum {
	SEGMENT_VERSION = 1,
	SEGMENT_HEADER_SIZE = 32,
	SEGMENT_NAME_MAX = 32,
};

const char *segment_name(uint64_t first, char ret[SEGMENT_NAME_MAX]);
/* Returns false if that is not the name of a segment. */
bool segment_name_parse(const char *name, uint64_t *ret_first);

/* Creates the file with its header and returns a descriptor for appending, or
 * -1; no file is left behind then. */
int segment_create(int dir, uint64_t first, struct error *err);

/* Reads a segment, also while it is appended to.  Damaged bytes are skipped. */
struct segment_reader {
	int fd;
	int64_t at; /* offset of the first byte that is not in `bytes` */
	struct buf bytes;
	size_t used; /* bytes of `bytes` */
};

/* ERROR_CONFIG: an unknown version.  A reader starts zeroed, and has to be
 * closed before it is opened again; `bytes` keeps its memory. */
int segment_reader_open(struct segment_reader *r, int dir, uint64_t first,
			struct error *err);
void segment_reader_close(struct segment_reader *r);
void segment_reader_free(struct segment_reader *r);

/*
 * Returns 1 and the next record, valid until the next call; 0 if there is none
 * now.  `grows` says that more may be appended: half a record at the end is
 * then kept for later.
 */
int segment_reader_next(struct segment_reader *r, bool grows,
			struct spool_record *ret, struct error *err);

#endif
