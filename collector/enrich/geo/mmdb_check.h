/*
 * mmdb_check.h - is a MaxMind DB whole?  What libmaxminddb 1.7 leaves out, so
 * that it can be let loose on any file.  Internal to collector/geo.
 *
 * It decodes nothing outside of the bytes that it was given, but believes the
 * metadata before it has seen how large the file is, and follows values nested
 * in one another as deep as they go, on the stack, and pointers as often as it
 * meets them; and it tells broken data only when a look-up gets there.
 *
 * Both functions return ERROR_INPUT saying what is wrong where.
 */
#ifndef COLLECTOR_ENRICH_GEO_MMDB_CHECK_H
#define COLLECTOR_ENRICH_GEO_MMDB_CHECK_H

#include <maxminddb.h>

#include "common/error.h"

/* Metadata as the data section of a database, which is how the library reads
 * them itself; before MMDB_open. */
int mmdb_check_metadata(const MMDB_s *metadata, struct error *err);

/* The whole tree and everything it leads to, once: a record that leads nowhere,
 * a circle, a value that is none, one nested too deep or too large.  The
 * library takes the metadata, too, for data, which end after `data_size` bytes.
 */
int mmdb_check(const MMDB_s *mmdb, uint32_t data_size, struct error *err);

#endif
