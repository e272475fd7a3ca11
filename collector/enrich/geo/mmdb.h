/*
 * mmdb.h - one MaxMind DB file: https://maxmind.github.io/MaxMind-DB/
 *
 * libmaxminddb looks addresses up and decodes what they lead to.  It takes a
 * file at its word, and finds out, or not, that it is broken when a look-up
 * gets there: so all of it is gone through when it is opened.
 *
 * The file is copied: what becomes of it on disk afterwards, in whatever way,
 * is of no concern.  Read-only once opened; any number of threads may ask.
 */
#ifndef COLLECTOR_ENRICH_GEO_MMDB_H
#define COLLECTOR_ENRICH_GEO_MMDB_H

#include <maxminddb.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct mmdb;

/* A file that is missing, broken, of 4 GiB or more or no MaxMind DB is
 * ERROR_CONFIG naming it and what is wrong. */
struct mmdb *mmdb_open(const char *path, struct error *err);
void mmdb_close(struct mmdb *m); /* NULL accepted */

/*
 * The record of an address (IPv6; IPv4 as ::ffff:a.b.c.d): its offset in the
 * data + 1, or 0 when there is none.  *ret_bits is the length of the prefix of
 * `ip` that the tree has it for, of an IPv4 address 96 at least; 0 where a file
 * of IPv4 is asked for IPv6.
 */
uint32_t mmdb_find(const struct mmdb *m, const uint8_t ip[16],
		   unsigned *ret_bits);

const char *mmdb_path(const struct mmdb *m);
size_t mmdb_bytes(const struct mmdb *m); /* of memory */

/* For mmdb_value.h. */
const MMDB_s *mmdb_library(const struct mmdb *m);

#endif
