/*
 * unix_socket.h - a Unix socket to listen on, and its file.
 *
 * The file of a process that has ended is replaced; that of a process that
 * listens is not, nor is anything but a socket.  The check and the replacement
 * are made under a lock on the directory, so that of two processes that start
 * at once one is refused.
 */
#ifndef COMMON_HTTP_UNIX_SOCKET_H
#define COMMON_HTTP_UNIX_SOCKET_H

#include "common/error.h"

struct unix_socket;

/* Returns NULL, or why no socket can be there: paths are absolute, and
 * short. */
const char *unix_socket_path_error(const char *path);

/* Listens at `path`, whose file gets `mode` before any client can connect. */
struct unix_socket *unix_socket_new(const char *path, unsigned mode,
				    struct error *err);

/*
 * The same with a socket that is bound to `path` and listens already, which a
 * former process has handed over; it is taken over, also on failure.  Mode -1:
 * the file's mode is kept.  ERROR_NOTFOUND: the file is gone, so that no client
 * can connect.
 */
struct unix_socket *unix_socket_adopt(const char *path, int mode, int fd,
				      struct error *err);

/* The descriptor, for http_listener_share. */
int unix_socket_fd(const struct unix_socket *s);

/* Removes the file, if it still is this socket's: no further client connects.
 * Clients that have connected can still be accepted. */
void unix_socket_unlink(struct unix_socket *s);

/* Leaves the file to another process that has the socket. */
void unix_socket_disown(struct unix_socket *s);

/* Closes the socket, and unlinks its file unless it was adopted or disowned: a
 * failed start takes nothing from the process it was to succeed.  NULL
 * accepted. */
void unix_socket_free(struct unix_socket *s);

#endif
