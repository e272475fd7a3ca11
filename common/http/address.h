/* address.h - addresses to listen on. */
#ifndef COMMON_HTTP_ADDRESS_H
#define COMMON_HTTP_ADDRESS_H

#include <stdbool.h>

#include "common/error.h"

/*
 * Sharing a port also works between processes, so two programs started with one
 * address would take each other's requests.  A program calls this once, before
 * the first listener on an address: ERROR_SYSTEM when somebody listens there.
 */
int http_address_check(const char *address, struct error *err);

/* Do only programs of this host reach it?  Of a name: all that it stands for.
 * False where it is no address, or its name is not known. */
bool http_address_is_loopback(const char *address);

/* A socket that listens there, with SO_REUSEPORT if `share`. */
int address_bind(const char *address, bool share, int *ret_fd,
		 struct error *err);

#endif
