/*
 * client_address.h - finds the client's address of a request that came through
 * proxies.
 *
 * A trusted proxy may name its client in X-Forwarded-For, in Forwarded (RFC
 * 7239) or in X-Real-IP; any other sender could write anything there.  So a
 * list is read from the right, where the nearest proxy appended, and the result
 * is the first address that is not itself a trusted proxy.  A value that is not
 * an address ends the search: nothing to the left of it can be trusted.
 * X-Real-IP has one address.  If there are two such headers, one may be the
 * client's, so neither is trusted.
 *
 * Only the one header that the proxies are known to set is read: another may
 * have been passed through unchanged from the client.
 */
#ifndef COMMON_CLIENT_ADDRESS_H
#define COMMON_CLIENT_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/http/request.h"
#include "common/ip.h"
#include "common/network_list.h"

enum forwarded_style {
	FORWARDED_LIST,	   /* X-Forwarded-For: client, proxy1, proxy2 */
	FORWARDED_RFC7239, /* Forwarded: for=client, for="[2001:db8::1]:4711" */
	FORWARDED_ADDRESS, /* X-Real-IP: client */
};

/* Reads an IPv4 or IPv6 address, with or without brackets and a port. */
bool address_parse(struct http_slice text, struct address *ret_address);

/* `values`: the header's lines in the order they were sent. */
struct address client_address(const struct network_list *proxies,
			      enum forwarded_style style,
			      const struct address *peer,
			      const struct http_slice *values, size_t count);

#endif
