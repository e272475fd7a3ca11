/*
 * range.h - blocks first to last of one generation, in the form of members of
 * the issued and pool sets: "first-last:generation".
 */
#ifndef LINKSTORE_RANGE_H
#define LINKSTORE_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct block_range {
	uint64_t first, last; /* inclusive */
	uint32_t generation;
};

#define RANGE_TEXT_MAX 64

static inline uint64_t range_blocks(const struct block_range *range)
{
	return range->last - range->first + 1;
}

/* Returns `text`. */
const char *range_format(const struct block_range *range,
			 char text[RANGE_TEXT_MAX]);

/* Returns false if the text is not exactly as range_format writes it: another
 * spelling of the same blocks would not be found as a member. */
bool range_parse(const char *text, size_t len, struct block_range *ret_range);

#endif
