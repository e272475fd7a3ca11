/* record.h - what a record of a MaxMind DB says of a place.  Internal to
 * collector/geo. */
#ifndef COLLECTOR_GEO_RECORD_H
#define COLLECTOR_GEO_RECORD_H

#include "collector/geo/geo.h"
#include "collector/geo/mmdb_value.h"

/* Takes from the record at `offset` what *record has not yet. */
void record_take(const struct mmdb_data *data, uint32_t offset,
		 const char *language, struct geo_record *record);

#endif
