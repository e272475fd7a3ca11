/*
 * host.h - the canonical form of a host name or address, so that two can be
 * compared.
 *
 * Names become lower-case A-labels: IDNA 2008 with the mapping of UTS #46, not
 * transitional (libidn2).  Addresses are read like browsers read them (WHATWG
 * URL, "host parsing"): `0x7f.1`, `017700000001` and `2130706433` all become
 * `127.0.0.1`.  A dot at the end is dropped.
 *
 * Input on which browsers and servers may disagree is refused rather than
 * guessed: percent signs, empty labels, IPv4 addresses inside of IPv6 ones
 * (mapped, compatible, translated by NAT64 or tunnelled by 6to4, Teredo or
 * ISATAP).
 *
 * Thread-safe; a plain ASCII name costs no allocation.
 */
#ifndef COMMON_HOST_H
#define COMMON_HOST_H

#include <stddef.h>

#include "common/error.h"

#define HOST_NAME_MAX_LEN 253 /* RFC 1035, without the dot at the end */
#define HOST_TEXT_MAX	  (HOST_NAME_MAX_LEN + 1) /* including its NUL */

enum host_kind {
	HOST_NAME,
	HOST_IPV4, /* "192.0.2.7" */
	HOST_IPV6, /* "[2001:db8::7]", with its brackets */
};

struct host {
	enum host_kind kind;
	size_t len;
	char text[HOST_TEXT_MAX];
};

/* Returns the lower-case form of a byte of an ASCII name; 0: it is not
 * allowed. */
static inline char host_name_char(char c)
{
	if (c >= 'A' && c <= 'Z')
		return (char)(c + ('a' - 'A'));
	if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
	    c == '_' || c == '.')
		return c;
	return 0;
}

/*
 * Parses a host as it is written in a URL, without user, port or slashes.  It
 * need not end in a NUL.  ERROR_INPUT says what is wrong with it, without
 * naming a field: "the host 'a..b' has an empty label".
 */
int host_parse(const char *text, size_t len, struct host *ret_host,
	       struct error *err);

/*
 * Returns the length of the host in "host:port" of a Host header or an
 * authority, brackets of an IPv6 address included.  The rest is the port with
 * its colon, or empty.
 */
size_t host_length(const char *text, size_t len);

#endif
