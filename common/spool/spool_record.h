/*
 * spool_record.h - the format of a record in a segment of a spool.
 *
 * Little-endian; a header of SPOOL_HEADER_SIZE bytes, followed by the payload:
 *
 *	 0  4  "SLr1"
 *	 4  4  CRC of bytes 8 to 39
 *	 8  8  number: that of the previous record plus one
 *	16  8  time_ms
 *	24  4  length of the payload
 *	28  4  flags; 1: maybe_sent
 *	32  4  CRC of the payload
 *	36  4  0
 *
 * CRC is zlib's crc32.  The header has its own, so that damage in a payload
 * loses that record only, and a search through damaged bytes for the next
 * header is cheap.
 */
#ifndef COMMON_SPOOL_SPOOL_RECORD_H
#define COMMON_SPOOL_SPOOL_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"

enum {
	SPOOL_HEADER_SIZE = 40,
	SPOOL_PAYLOAD_MAX = 1 << 20,
};

/* No spool gets this far; a greater number is damaged. */
#define SPOOL_NUMBER_MAX (UINT64_C(1) << 62)

struct spool_record {
	uint64_t number;  /* assigned by the spool */
	int64_t time_ms;  /* the caller's; kept unchanged */
	bool maybe_sent;  /* the receiver may have it already */
	const char *data; /* 1 to SPOOL_PAYLOAD_MAX bytes */
	size_t len;
};

/* Appends a record in this format. */
void spool_record_put(struct buf *out, const struct spool_record *record);

/*
 * Searches for the first whole, undamaged record in `len` bytes.  True: *ret
 * points into them, and the record ends at *ret_used.  False: no record begins
 * within the first *ret_used bytes; one that begins after them needs more bytes
 * than there are.  With `at_end` no more bytes will come, and all are used.
 */
bool spool_record_find(const char *data, size_t len, bool at_end,
		       struct spool_record *ret, size_t *ret_used);

#endif
