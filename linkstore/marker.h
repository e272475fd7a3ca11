/*
 * marker.h - the range marker m:{space:block}: what Redis knows of a block.
 *
 * Text, fields separated by one space:
 *	generation  o|c  class  opened  end  holder
 * with times in ms since 1970 by Redis' clock and `never` for an end that does
 * not come.  Behind the o stands how many blocked links the block has, when it
 * has any ("o2"): they do not end, and neither does the block while it has
 * one.  The key has no TTL: an absent marker is lost, never free.
 */
#ifndef LINKSTORE_MARKER_H
#define LINKSTORE_MARKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/clock.h"

#define LINK_CLASS_MAX	24 /* with its NUL */
#define LINK_HOLDER_MAX 64 /* with its NUL */

struct link_marker {
	uint32_t generation;
	bool open;
	char class_name[LINK_CLASS_MAX];
	int64_t opened;	  /* ms */
	uint32_t blocked; /* links that are blocked: they do not end */
	int64_t end;	  /* of all other links: ms, or DURATION_NEVER */
	char holder[LINK_HOLDER_MAX];
};

/* False when the text is no marker. */
bool marker_parse(const char *text, size_t len, struct link_marker *ret_marker);

/* True once no link of the block can be alive at `now` (Redis' clock).  A key
 * is there through the very millisecond that it expires in. */
static inline bool marker_ended(const struct link_marker *marker, int64_t now)
{
	return !marker->open || (!marker->blocked && marker->end < now);
}

/* When the last of the block's links ends, as far as is known. */
static inline int64_t marker_last_end(const struct link_marker *marker)
{
	return marker->blocked ? DURATION_NEVER : marker->end;
}

#endif
