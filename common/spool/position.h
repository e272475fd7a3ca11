/*
 * position.h - the read position of a spool, in a file that stays readable if
 * the process is killed at any moment.
 *
 * Two entries of 32 bytes, 512 bytes apart, are written in turn; the newer
 * whole entry counts:
 *
 *	 0  4  "SLp1", little-endian like all numbers here
 *	 4  4  CRC of bytes 8 to 31
 *	 8  8  generation: higher in the newer entry
 *	16  8  acknowledged
 *	24  8  handed_over
 *
 * If the newer one is damaged, some acknowledged records are returned again,
 * and none is skipped.
 */
#ifndef COMMON_SPOOL_POSITION_H
#define COMMON_SPOOL_POSITION_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"

struct spool_position {
	uint64_t acknowledged; /* records below it are done */
	uint64_t handed_over;  /* records below it may have been returned */
};

struct position_file {
	int fd; /* -1: none */
	uint64_t generation;
};

/* Opens or creates the file; if no entry is whole, *ret_found is false and *ret
 * zero.  If one of them is damaged, handed_over is unknown: UINT64_MAX. */
int position_file_open(struct position_file *f, int dir,
		       struct spool_position *ret, bool *ret_found,
		       struct error *err);
void position_file_close(struct position_file *f);

/* Written data survives a kill of the process; with `durable` the call waits
 * until it survives a loss of power too. */
int position_file_write(struct position_file *f,
			const struct spool_position *position, bool durable,
			struct error *err);

#endif
