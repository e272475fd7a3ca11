/*
 * notify.h - sends the program's state to the service manager: sd_notify(3)'s
 * protocol, one datagram of VARIABLE=value lines to the socket that
 * $NOTIFY_SOCKET names.
 */
#ifndef COMMON_APP_NOTIFY_H
#define COMMON_APP_NOTIFY_H

#include "common/error.h"

/*
 * Sends `state` ("READY=1").  Does nothing without $NOTIFY_SOCKET, that is, if
 * no manager expects it; the name is a path, or '@' with an abstract name.
 */
int notify(const char *state, struct error *err);

/* The same, with a duplicate of a descriptor for the manager. */
int notify_with_fd(const char *state, int fd, struct error *err);

/* Sends "RELOADING=1" with the time, which systemd compares with that of its
 * request. */
int notify_reloading(struct error *err);

#endif
