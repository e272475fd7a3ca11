/*
 * fd_store.h - sockets that the service manager keeps while a program is
 * restarted: systemd's LISTEN_FDS, and its store of descriptors (FDSTORE=1;
 * sd_listen_fds(3), sd_pid_notify_with_fds(3)).
 */
#ifndef COMMON_APP_FD_STORE_H
#define COMMON_APP_FD_STORE_H

#include <stdbool.h>

#include "common/error.h"
#include "common/http/inherited.h"

/*
 * Adds what the manager hands over at the start, be it from the store or of a
 * socket unit, and takes $LISTEN_FDS and its like out of the environment.
 * ERROR_CONFIG: there is one on which nobody can be accepted.
 */
int fd_store_take(struct inherited *into, struct error *err);

/* Does the manager keep descriptors?  $FDSTORE says how many; systemd sets it
 * from version 254 on, our units for those before. */
bool fd_store_is_offered(void);

/* Has the manager keep a duplicate of `fd` over restarts, under that name. */
int fd_store_put(const char *name, int fd, struct error *err);
/* It keeps none of that name any longer. */
int fd_store_remove(const char *name, struct error *err);

#endif
