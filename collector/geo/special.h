/*
 * special.h - addresses that are nowhere: the special-purpose registries of
 * IANA (RFC 6890 and its successors), as far as they can be a visitor's.
 */
#ifndef COLLECTOR_GEO_SPECIAL_H
#define COLLECTOR_GEO_SPECIAL_H

#include <stdint.h>

/* 0 for an address of the public Internet; otherwise a number for
 * geo_special_name. */
uint32_t geo_special_kind(const uint8_t ip[16]);

/* "private", "loopback", "link-local", "shared", "documentation", "reserved",
 * "multicast"; "" for 0. */
const char *geo_special_name(uint32_t kind);

#endif
