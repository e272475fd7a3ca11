/* ip.h - addresses as bytes: 4 of IPv4, 16 of IPv6. */
#ifndef COMMON_IP_H
#define COMMON_IP_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct address {
	uint8_t len; /* 4 or 16; 0: unknown.  A mapped IPv4 address is 4. */
	uint8_t bytes[16];
};

/* Returns true for an IPv4 address mapped into IPv6 (::ffff:a.b.c.d). */
bool ip_is_mapped(const uint8_t ip[16]);

/* Parses an address without a port.  Returns its length: 4, also for a mapped
 * one, or 16; 0 if it is no address, and then `ret_ip` has no meaning. */
size_t ip_parse(const char *text, uint8_t ret_ip[16]);

/* Returns an address of length 0 for an unknown family. */
struct address address_of_peer(const struct sockaddr_storage *peer);

/* Writes it as text and returns that; NULL for an address of length 0. */
const char *address_text(const struct address *address,
			 char ret_text[INET6_ADDRSTRLEN]);

/* Changes a peer with a mapped address to AF_INET. */
void ip_unmap_peer(struct sockaddr_storage *peer);

#endif
