/*
 * record.h - how a record lies in a segment of a spool.
 *
 * Little-endian; a header of SPOOL_HEADER_SIZE bytes, and the payload:
 *
 *	 0  4  "SLr1"
 *	 4  4  CRC of bytes 8 to 39
 *	 8  8  number: that of the record before, and one
 *	16  8  time_ms
 *	24  4  length of the payload
 *	28  4  flags; 1: maybe_sent
 *	32  4  CRC of the payload
 *	36  4  0
 *
 * CRC is zlib's crc32.  The header has one of its own, so that damage in a
 * payload costs that record alone, and a search through damaged bytes for the
 * next header is cheap.
 */
#ifndef COMMON_SPOOL_RECORD_H
#define COMMON_SPOOL_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"

enum {
	SPOOL_HEADER_SIZE = 40,
	SPOOL_PAYLOAD_MAX = 1 << 20,
};

/* No spool comes so far; what says so is damaged. */
#define SPOOL_NUMBER_MAX (UINT64_C(1) << 62)

struct spool_record {
	uint64_t number;  /* given by the spool */
	int64_t time_ms;  /* the caller's; kept as it is */
	bool maybe_sent;  /* somebody may have it already */
	const char *data; /* 1 to SPOOL_PAYLOAD_MAX bytes */
	size_t len;
};

/* Appends a record as above. */
void spool_record_put(struct buf *out, const struct spool_record *record);

/*
 * Looks for the first whole, undamaged record in `len` bytes.  True: *ret
 * points into them, and the record ends at *ret_used.  False: no record begins
 * within the first *ret_used bytes; one that begins behind them needs more
 * bytes than there are.  With `at_end` no more will come, and all are used.
 */
bool spool_record_find(const char *data, size_t len, bool at_end,
		       struct spool_record *ret, size_t *ret_used);

#endif
