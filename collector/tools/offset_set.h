/*
 * offset_set.h - a set of offsets of one partition: one bit for each, in chunks
 * that exist only where there is an offset.  It uses at most an eighth of a
 * byte for each offset between the first and the last.
 */
#ifndef COLLECTOR_TOOLS_OFFSET_SET_H
#define COLLECTOR_TOOLS_OFFSET_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct offset_chunk;

/* Initialise it with zeros. */
struct offset_set {
	struct offset_chunk *chunks; /* ascending */
	size_t count, room;
	uint64_t total;
};

void offset_set_free(struct offset_set *s);

/* Returns 1 if it is new, 0 if it was there, -1 when out of memory. */
int offset_set_add(struct offset_set *s, uint64_t offset, struct error *err);

bool offset_set_has(const struct offset_set *s, uint64_t offset);

/* Returns the number of offsets from `first` to `last`, both included. */
uint64_t offset_set_count(const struct offset_set *s, uint64_t first,
			  uint64_t last);

/* Returns the 64 offsets from `first`, which is a multiple of 64: bit n is
 * first + n. */
uint64_t offset_set_word(const struct offset_set *s, uint64_t first);

#endif
