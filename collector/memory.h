/*
 * memory.h - one setting for what a collector holds, and what becomes of it.
 *
 * Held are: batches filling and on their way, events fetched ahead of them,
 * dead letters and clicks to be shown live on their way, the caches, and what
 * rules and lists were made into. Copies of geo files do not count: they are
 * files in memory.
 */
#ifndef COLLECTOR_MEMORY_H
#define COLLECTOR_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct memory_shares {
	size_t rows; /* held by all partitions together */
	/* Events fetched ahead: their bytes; their number, since each costs
	 * librdkafka more than many an event is long; and the bytes of one
	 * answer, unpacked, which comes on top. */
	size_t fetch_bytes;
	size_t fetch_events;
	size_t fetch_unpacked;
	size_t dead_letters;
	size_t live; /* clicks to be shown live, on their way */
};

/*
 * Shares out `memory` bytes, of which the caches take `caches`.  ERROR_CONFIG,
 * naming the settings, when what is left is too little to work with.
 */
int memory_share(int64_t memory, int64_t caches, struct memory_shares *ret,
		 struct error *err);

/*
 * How many bytes of an answer, packed, may be asked for of topics that unpack
 * to at most `ratio` times as much; 0: to as much as the sender likes, so that
 * one batch is asked for at a time.
 */
size_t memory_fetch_answer(const struct memory_shares *shares, size_t ratio);

/*
 * What the process holds of memory that no file backs, in bytes; 0 where the
 * system does not tell.
 */
size_t memory_in_use(void);

/* Makes malloc give large blocks back, and not spread over as many arenas as
 * there are threads.  For the whole process; to be called before threads are.
 */
void memory_tame(void);

/* Gives back what malloc keeps. */
void memory_trim(void);

#endif
