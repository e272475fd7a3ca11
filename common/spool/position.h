/*
 * position.h - how far a spool was taken, in a file that a kill at any moment
 * leaves readable.
 *
 * Two entries of 32 bytes, 512 bytes apart, written in turn; the newer that is
 * whole counts:
 *
 *	 0  4  "SLp1", little-endian as all of it
 *	 4  4  CRC of bytes 8 to 31
 *	 8  8  generation: of the newer entry it is higher
 *	16  8  acknowledged
 *	24  8  handed_over
 *
 * Without the newer one records come again that had been done with, and none is
 * passed over.
 */
#ifndef COMMON_SPOOL_POSITION_H
#define COMMON_SPOOL_POSITION_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"

struct spool_position {
	uint64_t acknowledged; /* records below it are done with */
	uint64_t handed_over;  /* those below it may have been taken */
};

struct position_file {
	int fd; /* -1: none */
	uint64_t generation;
};

/* Opens or creates it; *ret_found is false, and *ret zero, where no entry is
 * whole.  Where one is not, handed_over is UINT64_MAX: nobody knows it. */
int position_file_open(struct position_file *f, int dir,
		       struct spool_position *ret, bool *ret_found,
		       struct error *err);
void position_file_close(struct position_file *f);

/* A kill of the process leaves what was written; with `durable` it waits until
 * a loss of power does, too. */
int position_file_write(struct position_file *f,
			const struct spool_position *position, bool durable,
			struct error *err);

#endif
