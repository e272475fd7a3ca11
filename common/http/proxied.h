/*
 * proxied.h - connections that have to begin with a PROXY header, until it has
 * come.  They then become connections of their client, without any byte of the
 * header; connections from other networks are never here.
 */
#ifndef COMMON_HTTP_PROXIED_H
#define COMMON_HTTP_PROXIED_H

#include <stdbool.h>

#include "common/http/types.h"

bool proxied_is_expected(const struct http_listener *l,
			 const struct sockaddr_storage *peer);

/* Takes over `fd`.  It counts as one of the listener's connections. */
void proxied_begin(struct http_listener *l, int fd,
		   const struct sockaddr_storage *peer);

/* For a drain: reads what has arrived, and closes those that wait for more. */
void proxied_finish_all(struct http_listener *l);

/* Closes all of them, whatever has arrived: no handler is called any more. */
void proxied_close_all(struct http_listener *l);

#endif
