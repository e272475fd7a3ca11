/*
 * mmdb.h - one MaxMind DB file: https://maxmind.github.io/MaxMind-DB/
 *
 * libmaxminddb searches addresses and decodes their records.  It trusts a file,
 * and may notice only during a search that the file is broken: so all of the
 * file is checked when it is opened.
 *
 * The file is copied: later changes on disk have no effect.  Read-only once
 * opened; any number of threads may query it.
 */
#ifndef COLLECTOR_ENRICH_GEO_MMDB_H
#define COLLECTOR_ENRICH_GEO_MMDB_H

#include <maxminddb.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct mmdb;

/* A file that is missing, broken, not smaller than 4 GiB or not a MaxMind DB is
 * ERROR_CONFIG naming it and the error. */
struct mmdb *mmdb_open(const char *path, struct error *err);
void mmdb_close(struct mmdb *m); /* NULL accepted */

/*
 * Returns the record of an address (IPv6; IPv4 as ::ffff:a.b.c.d): its offset
 * in the data + 1, or 0 if there is none.  *ret_bits is the length of the
 * prefix of `ip` for which the tree has it, at least 96 for an IPv4 address; 0
 * when a file of IPv4 is searched for IPv6.
 */
uint32_t mmdb_find(const struct mmdb *m, const uint8_t ip[16],
		   unsigned *ret_bits);

const char *mmdb_path(const struct mmdb *m);
size_t mmdb_bytes(const struct mmdb *m); /* memory in use */

/* Returns the library's handle, for mmdb_value.h. */
const MMDB_s *mmdb_library(const struct mmdb *m);

#endif
