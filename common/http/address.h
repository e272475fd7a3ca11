/* address.h - addresses to listen on. */
#ifndef COMMON_HTTP_ADDRESS_H
#define COMMON_HTTP_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

#include "common/error.h"

enum {
	/* How many may wait at a socket to be accepted. */
	SOCKET_BACKLOG = 4096,
};

/* Do only programs of this host reach it?  Of a name: all that it stands for.
 * False where it is no address, or its name is not known. */
bool http_address_is_loopback(const char *address);

/* Is `bound`, as getsockname tells, what address_bind would bind to? */
bool address_is(const char *address, const struct sockaddr_storage *bound);

/*
 * A socket that listens there, at ":8080" at every address of IPv6 and IPv4,
 * with SO_REUSEPORT if `share`.  Sharing also works between processes, so two
 * programs started with one address would take each other's requests: where
 * each has an address of its own, it is not shared, and ERROR_SYSTEM says that
 * somebody listens there.
 */
int address_bind(const char *address, bool share, int *ret_fd,
		 struct error *err);

#endif
