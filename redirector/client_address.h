/*
 * client_address.h - whose request is it, behind proxies?
 *
 * A proxy that is trusted may say whom it speaks for, in X-Forwarded-For or in
 * Forwarded (RFC 7239); everybody else could write anything there.  So the list
 * is read from the right, where the nearest proxy appended, and the answer is
 * the first address that is not itself a trusted proxy.  A value that is not
 * an address ends the walk: what stands left of it cannot be vouched for.
 *
 * Only the one header that the proxies are known to set is read: the other may
 * have been passed through from the client as it was.
 */
#ifndef REDIRECTOR_CLIENT_ADDRESS_H
#define REDIRECTOR_CLIENT_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/config/setting.h"
#include "common/error.h"
#include "common/http/http_server.h"

struct address {
	uint8_t len; /* 4 or 16; 0: unknown.  A mapped IPv4 address is 4. */
	uint8_t bytes[16];
};

enum forwarded_style {
	FORWARDED_LIST,	   /* X-Forwarded-For: client, proxy1, proxy2 */
	FORWARDED_RFC7239, /* Forwarded: for=client, for="[2001:db8::1]:4711" */
};

/* An unknown family gives an address of length 0. */
struct address address_of_peer(const struct sockaddr_storage *peer);

/* Reads an IPv4 or IPv6 address, with or without brackets and a port. */
bool address_parse(struct http_slice text, struct address *ret_address);

struct proxy_list;

/* `networks`: "10.0.0.0/8", "fd00::/8", or an address alone.  Bits set beyond
 * the prefix are an error, since one of the two numbers is then mistyped. */
struct proxy_list *proxy_list_new(const struct setting_strings *networks,
				  struct error *err);
void proxy_list_free(struct proxy_list *list); /* NULL accepted */

/* Read-only: from any thread. */
bool proxy_list_trusts(const struct proxy_list *list,
		       const struct address *address);

/* `values`: the header's lines in the order they were sent. */
struct address client_address(const struct proxy_list *list,
			      enum forwarded_style style,
			      const struct address *peer,
			      const struct http_slice *values, size_t count);

#endif
