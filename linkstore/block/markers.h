/* markers.h - reads many markers, also damaged ones. */
#ifndef LINKSTORE_BLOCK_MARKERS_H
#define LINKSTORE_BLOCK_MARKERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/redis/redis.h"
#include "linkstore/linkstore.h"
#include "linkstore/marker.h"

enum marker_state {
	MARKER_ABSENT,
	MARKER_SOUND,
	MARKER_DAMAGED,
};

struct marker_look {
	enum marker_state state;
	struct link_marker marker; /* valid if MARKER_SOUND */
};

/* Reads the markers in pipelines.  Blocks need not be neighbours. */
int markers_read(struct redis *redis, const struct link_space *space,
		 const uint64_t *blocks, size_t count,
		 struct marker_look *ret_scans, struct error *err);

/*
 * Writes a closed marker for a block that has lost its marker and has no link
 * left, so that a late open of that generation fails.  *ret_closed is false if
 * the block has a marker again: nothing was done.
 */
int marker_close_lost(struct redis *redis, const struct link_space *space,
		      uint64_t block, uint32_t generation, bool *ret_closed,
		      struct error *err);

#endif
