/*
 * memory.h - divides one setting among all memory of a collector.
 *
 * This memory is for: batches that are filled or inserted, events fetched
 * ahead, dead letters and live clicks on their way, the caches, and the
 * compiled rules and lists.  Copies of geo files do not count: they are files
 * in memory.
 */
#ifndef COLLECTOR_MEMORY_H
#define COLLECTOR_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct memory_shares {
	size_t rows; /* for all partitions together */
	/* Events fetched ahead: their bytes; their number, since librdkafka's
	 * cost per event exceeds the length of many events; and the bytes of
	 * one answer, unpacked, which are additional. */
	size_t fetch_bytes;
	size_t fetch_events;
	size_t fetch_unpacked;
	size_t dead_letters;
	size_t live; /* live clicks on their way */
};

/*
 * Divides `memory` bytes, of which the caches take `caches`.  ERROR_CONFIG,
 * naming the settings, when the rest is too small to work with.
 */
int memory_share(int64_t memory, int64_t caches, struct memory_shares *ret,
		 struct error *err);

/*
 * Returns how many packed bytes of an answer may be requested from topics that
 * unpack to at most `ratio` times as much (0: without a limit).  If it returns
 * 0, one batch is requested at a time.
 */
size_t memory_fetch_answer(const struct memory_shares *shares, size_t ratio);

/*
 * Returns the process' memory that no file backs, in bytes; 0 if the system
 * does not report it.
 */
size_t memory_in_use(void);

/* Makes malloc return large blocks, and use fewer arenas than there are
 * threads.  It affects the whole process; call it before threads are
 * started. */
void memory_tame(void);

/* Returns malloc's free memory to the system. */
void memory_trim(void);

#endif
