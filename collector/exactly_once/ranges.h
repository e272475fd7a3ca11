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
	size_t at; /* where the last look-up ended */
};

void ranges_release(struct ranges *r);

/* In ascending order. */
int ranges_add(struct ranges *r, uint64_t first, uint64_t last,
	       struct error *err);

/* The next offset, behind all others.  On failure *r is as it was. */
int ranges_note(struct ranges *r, uint64_t offset, struct error *err);

/* Quick when asked for ascending offsets; right for any. */
bool ranges_have(struct ranges *r, uint64_t offset);

/* How many of first to last are members. */
uint64_t ranges_count(const struct ranges *r, uint64_t first, uint64_t last);

/* How many offsets are members of both. */
uint64_t ranges_common(const struct ranges *a, const struct ranges *b);

/* One past the greatest member, or 0. */
uint64_t ranges_end(const struct ranges *r);

#endif
