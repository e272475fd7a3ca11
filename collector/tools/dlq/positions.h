/*
 * positions.h - a set of positions: topic, partition, offset.
 *
 * A topic that was made anew gives out the same positions again; a letter of
 * its former life is then taken for a copy.  Empty the topic of dead letters
 * when you do that.
 */
#ifndef COLLECTOR_TOOLS_DLQ_POSITIONS_H
#define COLLECTOR_TOOLS_DLQ_POSITIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct position_group;

/* All zero to begin with. */
struct positions {
	struct position_group *groups;
	size_t count, room;
};

void positions_free(struct positions *p);

/* 1 when it is new, 0 when it was there, -1 without memory. */
int positions_add(struct positions *p, const char *topic, int32_t partition,
		  uint64_t offset, struct error *err);
bool positions_have(const struct positions *p, const char *topic,
		    int32_t partition, uint64_t offset);

#endif
