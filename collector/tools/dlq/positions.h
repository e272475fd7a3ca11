/*
 * positions.h - a set of positions: topic, partition, offset.
 *
 * A topic that was made anew uses the same positions again; a letter from the
 * old topic would then count as a copy.  Empty the topic of dead letters in
 * this case.
 */
#ifndef COLLECTOR_TOOLS_DLQ_POSITIONS_H
#define COLLECTOR_TOOLS_DLQ_POSITIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct position_group;

/* Initialise it with zeros. */
struct positions {
	struct position_group *groups;
	size_t count, room;
};

void positions_free(struct positions *p);

/* Returns 1 if it is new, 0 if it was there, -1 when out of memory. */
int positions_add(struct positions *p, const char *topic, int32_t partition,
		  uint64_t offset, struct error *err);
bool positions_have(const struct positions *p, const char *topic,
		    int32_t partition, uint64_t offset);

#endif
