/*
 * geo_record.h - reads a place from records of MaxMind DBs.
 *
 * Two forms are supported and recognised by their members: MaxMind's nested one
 * (City, Country, Enterprise, ASN ...) and the flat one of ip-location-db
 * (country_code, state1, city, ...).
 */
#ifndef COLLECTOR_ENRICH_GEO_GEO_RECORD_H
#define COLLECTOR_ENRICH_GEO_GEO_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/enrich/geo/geo_text.h"

struct MMDB_s;

struct geo_record {
	/* AF, AN, AS, EU, NA, OC, SA; from the country if a file has none */
	struct geo_text continent;
	/* ISO 3166-1 (GB): the country of the address, else of its network's
	 * registration, else the one that it represents.  For a non-public
	 * address its kind: "private", "loopback" ... */
	struct geo_text country;
	struct geo_text region;
	struct geo_text city;
	struct geo_text postal_code;
	struct geo_text time_zone; /* Europe/London */
	struct geo_text as_org;
	uint32_t asn;
	bool located; /* false: the next three are 0 */
	double latitude;
	double longitude;
	uint16_t accuracy_radius; /* km; 0 when unknown */
};

/* Fills the values of *record that are empty and that the record at `offset` of
 * the data section has.  Texts point into the file. */
void geo_record_take(const struct MMDB_s *mmdb, uint32_t offset,
		     const char *language, struct geo_record *record);

#endif
