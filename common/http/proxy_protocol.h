/*
 * proxy_protocol.h - parses the PROXY header, with which a proxy names the
 * client at the start of a connection.  Versions 1 (a line of text) and 2
 * (binary) of "The PROXY protocol" (Willy Tarreau, HAProxy Technologies, 2020),
 * doc/proxy-protocol.txt of HAProxy; sections are those of that text.
 *
 * The parser is strict, since what follows is parsed as a request: all that
 * section 2 does not allow is malformed.  A checksum of version 2 is verified
 * if there is one.
 */
#ifndef COMMON_HTTP_PROXY_PROTOCOL_H
#define COMMON_HTTP_PROXY_PROTOCOL_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest header that is accepted.  The length field of version 2 would
 * allow 64 KiB; addresses take 232 bytes at most, and certificates do not
 * belong here. */
#define PROXY_HEADER_MAX 4096

struct proxy_header {
	size_t len; /* the bytes after it belong to the connection */
	/* False: the proxy sends its own request (LOCAL, a health check), or
	 * does not know the client (UNKNOWN, UNSPEC), or the client came by a
	 * Unix socket; the peer stays unchanged. */
	bool has_source;
	struct sockaddr_storage
		source; /* AF_INET (also for a mapped address) or AF_INET6 */
};

enum proxy_found {
	PROXY_MORE,	 /* all of it belongs to an incomplete header */
	PROXY_COMPLETE,	 /* *ret_header is filled */
	PROXY_MALFORMED, /* *ret_wrong has the reason */
};

/* Parses the start of a connection.  It keeps no state: each call gets all
 * bytes from the first on. */
enum proxy_found proxy_header_parse(const uint8_t *bytes, size_t len,
				    struct proxy_header *ret_header,
				    const char **ret_wrong);

#endif
