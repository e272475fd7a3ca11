/* record.h - what a record of a MaxMind DB says of a place.  Internal to
 * collector/geo. */
#ifndef COLLECTOR_ENRICH_GEO_RECORD_H
#define COLLECTOR_ENRICH_GEO_RECORD_H

#include <maxminddb.h>

#include "collector/enrich/geo/geo.h"

/* Takes from the record at `offset` what *record has not yet. */
void record_take(const MMDB_s *mmdb, uint32_t offset, const char *language,
		 struct geo_record *record);

#endif
