/* address.h - addresses to listen on. */
#ifndef COMMON_HTTP_ADDRESS_H
#define COMMON_HTTP_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

#include "common/error.h"

enum {
	/* The number of connections that may wait at a socket to be
	 * accepted. */
	SOCKET_BACKLOG = 4096,
};

/* Returns true if only programs on this host can reach the address; a name must
 * resolve to nothing else.  Returns false if it is no address, or its name is
 * not known. */
bool http_address_is_loopback(const char *address);

/* Returns true if `bound`, from getsockname, is what address_bind would bind
 * to. */
bool address_is(const char *address, const struct sockaddr_storage *bound);

/*
 * Returns a socket that listens there; ":8080" means every address of IPv6 and
 * IPv4.  `share` sets SO_REUSEPORT.  Sharing also works between processes, so
 * two programs started with one address would take each other's requests: an
 * address that belongs to one program is not shared, and ERROR_SYSTEM says that
 * another process listens there.
 */
int address_bind(const char *address, bool share, int *ret_fd,
		 struct error *err);

#endif
