/*
 * place.h - turns addresses into columns of their place that can be copied into
 * a row.  It caches the records of each network, /24 of IPv4 and /48 of IPv6,
 * if all of it is in one place (97 in 100 are with DB-IP's files), and the
 * columns of records, which many networks share.
 *
 * Belongs to one thread.
 */
#ifndef COLLECTOR_ENRICH_PLACE_H
#define COLLECTOR_ENRICH_PLACE_H

#include <stdint.h>

#include "collector/enrich/cache.h"
#include "collector/enrich/geo/geo.h"
#include "common/buf.h"

struct place_lookup;

/* `geo` must outlive it. */
struct place_lookup *place_lookup_new(const struct geo *geo, size_t cache_bytes,
				      struct error *err);
void place_lookup_free(struct place_lookup *l); /* NULL accepted */

/* The address will be searched soon: prefetches its entry. */
void place_expect(const struct place_lookup *l, const uint8_t ip[16]);

/* Appends the columns from continent to as_org in RowBinary; they are empty if
 * there is no address (NULL). */
void place_append(struct place_lookup *l, const uint8_t ip[16],
		  struct buf *row);

/* Returns the number of the network's operator; 0: not known. */
uint32_t place_asn(struct place_lookup *l, const uint8_t ip[16]);

/* A miss is a search in the files' trees; entries are records. */
struct cache_stats place_stats(const struct place_lookup *l);

#endif
