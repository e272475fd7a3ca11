/*
 * mmdb_value.h - the values of a MaxMind DB, one after the other, as
 * libmaxminddb decodes them: in one pass and without memory of their own.
 *
 * Whatever the bytes are, nothing is read outside of them.
 */
#ifndef COLLECTOR_ENRICH_GEO_MMDB_VALUE_H
#define COLLECTOR_ENRICH_GEO_MMDB_VALUE_H

#include <maxminddb.h>
#include <stdbool.h>
#include <stdint.h>

/* Values that a map or an array holds, keys included; 0 for all others. */
uint32_t mmdb_value_count(const MMDB_entry_data_s *value);

/*
 * The value at *offset or, when that is a pointer, the one it points to.
 * *offset moves to what comes next: what the value holds, unless that is
 * elsewhere, or what is behind it.  False: there is none.
 */
bool mmdb_value_step(const MMDB_s *mmdb, uint32_t *offset,
		     MMDB_entry_data_s *ret_value);

/* The same, and moves behind all that the value holds. */
bool mmdb_value_take(const MMDB_s *mmdb, uint32_t *offset,
		     MMDB_entry_data_s *ret_value);

/* What the path of keys and indexes, the last one NULL, leads to.  False:
 * there is none. */
bool mmdb_value_of(const MMDB_s *mmdb, const MMDB_entry_data_s *value,
		   const char *const path[], MMDB_entry_data_s *ret_value);

#endif
