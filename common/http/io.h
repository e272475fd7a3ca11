/* io.h - a connection's reads and writes. */
#ifndef COMMON_HTTP_IO_H
#define COMMON_HTTP_IO_H

#include <stdbool.h>

#include "common/http/types.h"

bool connection_is_sending(const struct connection *conn);
void connection_hang_up(struct connection *conn);
/* Gives the connection a request from the pool if it has none.  Returns false
 * if out of memory. */
bool connection_take_request(struct connection *conn);
/* Sends what there is.  Returns false if not all of it is sent yet, or the
 * client has gone. */
bool connection_flush(struct connection *conn);
/* Returns the bytes sent that the client's system has not acknowledged: the
 * number falls while a slow client reads, long before there is room to send
 * more. */
int connection_unread(const struct connection *conn);
/* Returns true if unread bytes have arrived.  Closing would then reset the
 * connection, and the client might lose the last bytes sent to it. */
bool connection_has_input(const struct connection *conn);
void connection_read(struct connection *conn);
/* Moves the request to the front of its buffer, with `room` bytes after it. */
int request_make_room(struct http_request *req, size_t room);
/* Reads and discards what a refused client still sends. */
void connection_discard(struct connection *conn);

#endif
