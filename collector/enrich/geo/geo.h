/*
 * geo.h - finds the place of an address in MaxMind DB files.
 *
 * The files may be up to GEO_FILES_MAX, of any kind: each value is taken from
 * the first file that has it.  Records may have either form that geo_record.h
 * knows.  A file without any of these values has no effect, and is no error.  A
 * file of IPv4 addresses answers for those only.
 *
 * An IPv6 address that stands for an IPv4 address (mapped, 6to4, Teredo, NAT64)
 * has the place of that one.
 *
 * A `struct geo` is read-only once opened; any number of threads may query it.
 * The files are copied to memory: replacing them has no effect on an opened
 * one.
 */
#ifndef COLLECTOR_ENRICH_GEO_GEO_H
#define COLLECTOR_ENRICH_GEO_GEO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/enrich/geo/geo_record.h"
#include "common/config/setting.h"
#include "common/error.h"

enum {
	GEO_FILES_MAX = 8
};

struct geo;

/* `language` is the language of names ("de", "pt-BR"), if a file has it; the
 * next choice is English.  A file that is missing, broken anywhere or not a
 * MaxMind DB is ERROR_CONFIG naming it. */
struct geo *geo_open(const struct setting_strings *files, const char *language,
		     struct error *err);
void geo_close(struct geo *g); /* NULL accepted */

size_t geo_count(const struct geo *g); /* number of its files */
size_t geo_bytes(const struct geo *g); /* memory that its files use */

/*
 * Finding is fast, reading is slow.  Places with equal bytes read the same, so
 * the result of a read can be cached under them.
 */
struct geo_place {
	/* 0, or the kind of a non-public address. */
	uint32_t kind;
	/* One per file; 0: the file has none. */
	uint32_t records[GEO_FILES_MAX];
};

/* `ip` is IPv6; IPv4 as ::ffff:a.b.c.d.  Returns the length of a prefix of `ip`
 * under which all addresses have the same place. */
unsigned geo_find(const struct geo *g, const uint8_t ip[16],
		  struct geo_place *ret_place);

/* Texts are valid until geo_close. */
void geo_read(const struct geo *g, const struct geo_place *place,
	      struct geo_record *ret_record);

/* Returns a file's path, to show the origin of a value. */
const char *geo_file(const struct geo *g, size_t file);
enum {
	GEO_NETWORK_MAX = 64
};
/* Returns the network of that file's tree that contains the address, or the one
 * within it: "192.0.2.0/24". */
const char *geo_network(const struct geo *g, size_t file, const uint8_t ip[16],
			char ret_text[GEO_NETWORK_MAX]);

#endif
