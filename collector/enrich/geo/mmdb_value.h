/*
 * mmdb_value.h - iterates over the values of a MaxMind DB as libmaxminddb
 * decodes them: in one pass, without allocating memory.
 *
 * Nothing is read outside of the bytes, even if they are broken.
 */
#ifndef COLLECTOR_ENRICH_GEO_MMDB_VALUE_H
#define COLLECTOR_ENRICH_GEO_MMDB_VALUE_H

#include <maxminddb.h>
#include <stdbool.h>
#include <stdint.h>

/* Returns the number of values in a map or an array, keys included; 0 for other
 * types. */
uint32_t mmdb_value_count(const MMDB_entry_data_s *value);

/*
 * Returns the value at *offset or, if that is a pointer, the one it points to.
 * *offset moves to the next value: the first nested one, unless that is
 * elsewhere, or the one after it.  False: there is none.
 */
bool mmdb_value_step(const MMDB_s *mmdb, uint32_t *offset,
		     MMDB_entry_data_s *ret_value);

/* Does the same, and moves past all that the value holds. */
bool mmdb_value_take(const MMDB_s *mmdb, uint32_t *offset,
		     MMDB_entry_data_s *ret_value);

/* Follows a path of keys and indexes, the last one NULL.  False: there is no
 * such value. */
bool mmdb_value_of(const MMDB_s *mmdb, const MMDB_entry_data_s *value,
		   const char *const path[], MMDB_entry_data_s *ret_value);

#endif
