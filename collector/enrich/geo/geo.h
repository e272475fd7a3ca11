/*
 * geo.h - where an address is, by MaxMind DB files.
 *
 * Any number of files up to GEO_FILES_MAX, of any kind: each value is taken
 * from the first file that has it.  Records may be of either shape that
 * geo_record.h knows.  A file that has no value of these is of no use, and no
 * error.
 * A file of IPv4 addresses answers for those only.
 *
 * An IPv6 address that stands for one of IPv4 (mapped, 6to4, Teredo, NAT64) is
 * where that one is.
 *
 * A `struct geo` is read-only once opened; any number of threads may ask.  The
 * files are copied to memory: replaced in whatever way, they are what they were
 * when opened.
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

/* `language` is that of names ("de", "pt-BR"), where a file has it; English is
 * next.  A file that is missing, broken anywhere or not a MaxMind DB is
 * ERROR_CONFIG naming it. */
struct geo *geo_open(const struct setting_strings *files, const char *language,
		     struct error *err);
void geo_close(struct geo *g); /* NULL accepted */

size_t geo_count(const struct geo *g); /* of its files */
size_t geo_bytes(const struct geo *g); /* of memory that its files take */

/*
 * Finding is cheap, reading is not: places with the same bytes read the same,
 * so what is read can be kept under them.
 */
struct geo_place {
	uint32_t kind;			 /* 0, or an address that is nowhere */
	uint32_t records[GEO_FILES_MAX]; /* by file; 0: it has none */
};

/* `ip` is IPv6; IPv4 as ::ffff:a.b.c.d.  Returns the length of a prefix of
 * `ip` under which all addresses are in the same place. */
unsigned geo_find(const struct geo *g, const uint8_t ip[16],
		  struct geo_place *ret_place);

/* Texts are valid until geo_close. */
void geo_read(const struct geo *g, const struct geo_place *place,
	      struct geo_record *ret_record);

/* For people who ask where a value came from. */
const char *geo_file(const struct geo *g, size_t file);
enum {
	GEO_NETWORK_MAX = 64
};
/* The network of that file's tree that the address, or the one within it, is
 * in: "192.0.2.0/24". */
const char *geo_network(const struct geo *g, size_t file, const uint8_t ip[16],
			char ret_text[GEO_NETWORK_MAX]);

#endif
