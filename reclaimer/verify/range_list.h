/* range_list.h - a list of ranges of blocks, of bounded length. */
#ifndef RECLAIMER_VERIFY_RANGE_LIST_H
#define RECLAIMER_VERIFY_RANGE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "linkstore/range.h"

#define RANGE_LIST_MAX 65536

/* A struct of zeros is an empty list.  A range has a generation where it
 * matters, else 0. */
struct range_list {
	struct block_range *list;
	size_t count, room;
	uint64_t left_out; /* blocks that had no room */
};

void range_list_free(struct range_list *r);
/* Extends the last range if possible. */
int range_list_add(struct range_list *r, uint64_t first, uint64_t last,
		   uint32_t generation, struct error *err);
/* Sorts the ranges and removes overlaps. */
void range_list_sort(struct range_list *r);
/* Returns the index of the first range that ends at or after `block`; call it
 * after a sort. */
size_t range_list_find(const struct range_list *r, uint64_t block);

#endif
