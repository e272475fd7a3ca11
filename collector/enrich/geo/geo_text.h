/* geo_text.h - a text of a geo file, which it points into. */
#ifndef COLLECTOR_ENRICH_GEO_GEO_TEXT_H
#define COLLECTOR_ENRICH_GEO_GEO_TEXT_H

#include <stddef.h>

struct geo_text {
	const char *data; /* NUL-terminated only by chance */
	size_t len;
};

#endif
