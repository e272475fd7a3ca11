/*
 * proxy_protocol.h - what a proxy says before the first byte of a connection:
 * whose it is.  Versions 1 (a line of text) and 2 (binary) of "The PROXY
 * protocol" (Willy Tarreau, HAProxy Technologies, 2020), doc/proxy-protocol.txt
 * of HAProxy; sections are those of that text.
 *
 * Strict, since what follows is taken for a request: all that section 2 does
 * not allow is malformed.  A checksum of version 2 is verified if there is one.
 */
#ifndef COMMON_HTTP_PROXY_PROTOCOL_H
#define COMMON_HTTP_PROXY_PROTOCOL_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest header that is accepted.  The length of version 2 would allow for
 * 64 KiB; addresses take 232 bytes at most, and certificates do not belong
 * here. */
#define PROXY_HEADER_MAX 4096

struct proxy_header {
	size_t len; /* what follows is the connection's */
	/* False: the proxy speaks for itself (LOCAL, a health check), or does
	 * not know (UNKNOWN, UNSPEC), or its client came by a Unix socket; the
	 * peer stays who it was. */
	bool has_source;
	struct sockaddr_storage source; /* AF_INET (of a mapped one as well)
					 * or AF_INET6 */
};

enum proxy_found {
	PROXY_MORE,	 /* all of it belongs to a header that goes on */
	PROXY_COMPLETE,	 /* *ret_header is filled */
	PROXY_MALFORMED, /* *ret_wrong says why */
};

/* Looks at what a connection begins with.  Keeps nothing between calls: it is
 * given all from the first byte on each time. */
enum proxy_found proxy_header_parse(const uint8_t *bytes, size_t len,
				    struct proxy_header *ret_header,
				    const char **ret_wrong);

#endif
