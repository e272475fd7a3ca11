/* stretches.h - a list of stretches of blocks, of bounded length. */
#ifndef RECLAIMER_VERIFY_STRETCHES_H
#define RECLAIMER_VERIFY_STRETCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

#define STRETCHES_MAX 65536

struct stretch {
	uint64_t first, last;
	uint32_t generation; /* where it matters, else 0 */
};

/* All zero to begin with. */
struct stretches {
	struct stretch *list;
	size_t count, room;
	uint64_t left_out; /* blocks there was no room for */
};

void stretches_free(struct stretches *s);
/* Lengthens the last one where it can. */
int stretches_add(struct stretches *s, uint64_t first, uint64_t last,
		  uint32_t generation, struct error *err);
/* In order, without overlaps. */
void stretches_sort(struct stretches *s);
/* Number of the first one that ends at or behind `block`; after a sort. */
size_t stretches_find(const struct stretches *s, uint64_t block);

#endif
