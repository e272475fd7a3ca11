/*
 * tzif.h - reads TZif files (RFC 8536) as installed by the package tzdata:
 * versions 1 to 4, without leap seconds.
 */
#ifndef AGGREGATOR_ZONE_TZIF_H
#define AGGREGATOR_ZONE_TZIF_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct tzif_change {
	int64_t at;	/* seconds since 1970, UTC */
	int32_t offset; /* seconds east of UTC after that */
};

struct tzif {
	int32_t first_offset;	     /* before the first change */
	struct tzif_change *changes; /* ascending; owned */
	size_t count;
	char footer[64]; /* the rule after the last change, or "" */
};

/* Returns -1 with ERROR_INPUT if the bytes are not such a file; `tzif` is then
 * empty. */
int tzif_parse(struct tzif *tzif, const void *data, size_t len,
	       struct error *err);
void tzif_release(struct tzif *tzif);

#endif
