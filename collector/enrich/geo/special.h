/* special.h - addresses that are not of the public Internet, and addresses that
 * stand for others: IANA's special-purpose registries (RFC 6890 and its
 * successors), as far as visitors can have such addresses. */
#ifndef COLLECTOR_ENRICH_GEO_SPECIAL_H
#define COLLECTOR_ENRICH_GEO_SPECIAL_H

#include <stdint.h>

/*
 * Returns in `ret_ip` the IPv4 address within `ip` as ::ffff:a.b.c.d: from 6to4
 * (2002::/16, RFC 3056), a Teredo client (2001::/32, RFC 4380) or NAT64
 * (64:ff9b::/96, RFC 6052); or `ip` itself.  Returns by how many bits the
 * address within ends earlier than `ip`.
 */
unsigned special_unwrap(const uint8_t ip[16], uint8_t ret_ip[16]);

/* Returns 0 for an address of the public Internet, otherwise a number for
 * special_name.  All addresses that share *ret_bits bits with it are of the
 * same kind. */
uint32_t special_kind(const uint8_t ip[16], unsigned *ret_bits);

/* Returns "private", "loopback", "link-local", "shared", "documentation",
 * "reserved", "multicast"; "" for 0. */
const char *special_name(uint32_t kind);

#endif
