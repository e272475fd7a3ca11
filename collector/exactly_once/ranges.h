/*
 * ranges.h - a set of offsets as ascending ranges.
 */
#ifndef COLLECTOR_EXACTLY_ONCE_RANGES_H
#define COLLECTOR_EXACTLY_ONCE_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct range {
	uint64_t first;
	uint64_t last;
};

/* Start from `struct ranges r = {0};`. */
struct ranges {
	struct range *items;
	size_t count;
	size_t cap;
	size_t at; /* end of the last search */
};

void ranges_release(struct ranges *r);

/* Call it in ascending order. */
int ranges_add(struct ranges *r, uint64_t first, uint64_t last,
	       struct error *err);

/* Adds the next offset, which is greater than all others.  On failure *r stays
 * as it was. */
int ranges_note(struct ranges *r, uint64_t offset, struct error *err);

/* Fast for ascending offsets; correct for any. */
bool ranges_have(struct ranges *r, uint64_t offset);

/* Returns how many offsets from first to last are members. */
uint64_t ranges_count(const struct ranges *r, uint64_t first, uint64_t last);

/* Returns how many offsets are members of both. */
uint64_t ranges_common(const struct ranges *a, const struct ranges *b);

/* Returns one past the greatest member, or 0. */
uint64_t ranges_end(const struct ranges *r);

#endif
