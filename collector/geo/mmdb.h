/*
 * mmdb.h - one MaxMind DB file: https://maxmind.github.io/MaxMind-DB/
 *
 * libmaxminddb opens it; what is looked up is walked here: it is looked up
 * faster, with the first 16 bits of an address answered by a table, and a file
 * that is broken anywhere is refused when it is opened (the library finds out,
 * or not, when it gets there).
 *
 * The file is copied: what becomes of it on disk afterwards, in whatever way,
 * is of no concern.  Read-only once opened; any number of threads may ask.
 */
#ifndef COLLECTOR_GEO_MMDB_H
#define COLLECTOR_GEO_MMDB_H

#include <stdint.h>

#include "collector/geo/mmdb_value.h"
#include "common/error.h"

struct mmdb;

/* A file that is missing, broken or no MaxMind DB is ERROR_CONFIG naming it and
 * what is wrong. */
struct mmdb *mmdb_open(const char *path, struct error *err);
void mmdb_close(struct mmdb *m); /* NULL accepted */

/*
 * The record of an address (IPv6; IPv4 as ::ffff:a.b.c.d): its offset in the
 * data + 1, or 0 when there is none.  *ret_bits is the length of a prefix
 * of `ip` under which all addresses have the same answer.
 */
uint32_t mmdb_find(const struct mmdb *m, const uint8_t ip[16],
		   unsigned *ret_bits);

/* The length of the prefix of `ip` that the tree has a record for: mmdb_find's
 * may be longer, and is found faster. */
unsigned mmdb_network_bits(const struct mmdb *m, const uint8_t ip[16]);

const char *mmdb_path(const struct mmdb *m);
size_t mmdb_bytes(const struct mmdb *m); /* of memory */

/* Where records lie. */
const struct mmdb_data *mmdb_data(const struct mmdb *m);

#endif
