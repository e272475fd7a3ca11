/*
 * proxied.h - connections that have to begin with a PROXY header, until it has
 * come.  They become connections of their client then, with nothing of the
 * header left in them; those of others are never here.
 */
#ifndef COMMON_HTTP_PROXIED_H
#define COMMON_HTTP_PROXIED_H

#include <stdbool.h>

#include "common/http/types.h"

bool proxied_is_expected(const struct http_listener *l,
			 const struct sockaddr_storage *peer);

/* Takes over `fd`.  It counts among the listener's connections. */
void proxied_begin(struct http_listener *l, int fd,
		   const struct sockaddr_storage *peer);

/* For a drain: reads what has come, and closes those that wait for more. */
void proxied_finish_all(struct http_listener *l);

/* Closes them all, whatever has come: no handler is called any more. */
void proxied_close_all(struct http_listener *l);

#endif
