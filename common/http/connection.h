/* connection.h - one connection, from its first byte to its last. */
#ifndef COMMON_HTTP_CONNECTION_H
#define COMMON_HTTP_CONNECTION_H

#include <stdbool.h>
#include <sys/socket.h>

#include "common/error.h"
#include "common/http/types.h"

/* Takes over `fd`, also on failure.  A surplus one is told 503 and closed.
 * What has arrived with it is answered at once: it may be gone when this
 * returns. */
int connection_new(struct http_listener *l, int fd,
		   const struct sockaddr_storage *peer, bool surplus,
		   struct error *err);
/* Closes it at once; a request still with its handler stays valid. */
void connection_close(struct connection *conn);
/* How many are to go before its drain is over. */
size_t connection_awaited(const struct http_listener *l);
/* One that was counted has gone: maybe the drain is over. */
void connection_check_drain(struct http_listener *l);
/* Closes the connection that has been idle longest, so that another can have
 * its place: between requests, or before its first byte.  False: there is none.
 */
bool connection_make_room(struct http_listener *l);
/* For a drain: closes it unless it is in the middle of something. */
void connection_retire(struct connection *conn);

#endif
