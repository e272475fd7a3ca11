/* geo_text.h - a text of a geo file; it points into the file. */
#ifndef COLLECTOR_ENRICH_GEO_GEO_TEXT_H
#define COLLECTOR_ENRICH_GEO_GEO_TEXT_H

#include <stddef.h>

struct geo_text {
	const char *data; /* not always NUL-terminated */
	size_t len;
};

#endif
