/* io.h - a connection's reads and writes. */
#ifndef COMMON_HTTP_IO_H
#define COMMON_HTTP_IO_H

#include <stdbool.h>

#include "common/http/types.h"

bool connection_is_sending(const struct connection *conn);
void connection_hang_up(struct connection *conn);
/* Gives it a request from the pool if it has none.  False: out of memory. */
bool connection_take_request(struct connection *conn);
/* Sends what there is.  False: not all of it is gone yet, or the client is. */
bool connection_flush(struct connection *conn);
/* Bytes sent that the client's system has not acknowledged: falls while a slow
 * client reads, long before there is room to send more. */
int connection_unread(const struct connection *conn);
/* Has anything come that was not read?  Closing would then reset the
 * connection, and the client might lose what it was sent last. */
bool connection_has_input(const struct connection *conn);
void connection_read(struct connection *conn);
/* Moves the request to the front of its buffer, with that much room behind it.
 */
int request_make_room(struct http_request *req, size_t room);
/* Takes what a refused client still sends off the wire. */
void connection_discard(struct connection *conn);

#endif
