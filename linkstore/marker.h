/*
 * marker.h - the marker of a block in Redis, m:{space:block}.
 *
 * Text, fields separated by one space:
 *	generation  o|c  class  opened  end  holder
 * with times in ms since 1970 by Redis' clock, and `never` for an end that does
 * not come.  The class of a closed marker is "-" if no code of the block is
 *known to have been issued under its generation.  The o is followed by the
 *number of blocked links in the block, if there are any ("o2").  Blocked links
 *do not end, so a block with one does not end either.  The key has no TTL: an
 *absent marker is lost, never free.
 */
#ifndef LINKSTORE_MARKER_H
#define LINKSTORE_MARKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/clock.h"

#define LINK_CLASS_MAX	24 /* including NUL */
#define LINK_HOLDER_MAX 64 /* including NUL */

struct link_marker {
	uint32_t generation;
	bool open;
	char class_name[LINK_CLASS_MAX];
	int64_t opened;	  /* ms */
	uint32_t blocked; /* number of blocked links: they do not end */
	int64_t end;	  /* end of all other links: ms, or DURATION_NEVER */
	char holder[LINK_HOLDER_MAX];
};

/* Returns false if the text is not a marker. */
bool marker_parse(const char *text, size_t len, struct link_marker *ret_marker);

/* Returns true if codes of the block may have been issued under the marker's
 * generation. */
static inline bool marker_had_links(const struct link_marker *marker)
{
	return marker->open || marker->class_name[0] != '-';
}

/* Returns true when no link of the block can be alive at `now` (Redis' clock).
 * A key still exists in the millisecond in which it expires. */
static inline bool marker_ended(const struct link_marker *marker, int64_t now)
{
	return !marker->open || (!marker->blocked && marker->end < now);
}

/* Returns when the last of the block's links ends, as far as is known. */
static inline int64_t marker_last_end(const struct link_marker *marker)
{
	return marker->blocked ? DURATION_NEVER : marker->end;
}

#endif
