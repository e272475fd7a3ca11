/* connection.h - one connection, from its first byte to its last. */
#ifndef COMMON_HTTP_CONNECTION_H
#define COMMON_HTTP_CONNECTION_H

#include <stdbool.h>
#include <sys/socket.h>

#include "common/error.h"
#include "common/http/types.h"

/* Takes over `fd`, also on failure.  A surplus connection gets a 503 and is
 * closed.  A request that has already arrived is answered at once: the
 * connection may be gone when this returns. */
int connection_new(struct http_listener *l, int fd,
		   const struct sockaddr_storage *peer, bool surplus,
		   struct error *err);
/* Closes the connection at once; a request that is still with its handler stays
 * valid. */
void connection_close(struct connection *conn);
/* Returns how many connections have to end before the drain is over. */
size_t connection_awaited(const struct http_listener *l);
/* A connection that was counted has ended: checks whether the drain is over. */
void connection_check_drain(struct http_listener *l);
/* Closes the connection that has been idle longest (between requests, or before
 * its first byte), to make room for another.  Returns false if there is
 * none. */
bool connection_make_room(struct http_listener *l);
/* Closes the connection for a drain, unless a request is under way. */
void connection_retire(struct connection *conn);

#endif
