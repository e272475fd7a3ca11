/* continent.h - the continent of a country, for files without continents. */
#ifndef COLLECTOR_ENRICH_GEO_CONTINENT_H
#define COLLECTOR_ENRICH_GEO_CONTINENT_H

#include "collector/enrich/geo/geo_text.h"

/* Returns AF, AN, AS, EU, NA, OC or SA for an ISO 3166-1 code; empty for
 * none. */
struct geo_text continent_of(struct geo_text country);

#endif
