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
 * Adds the descriptors that the manager passes at the start, from the store or
 * from a socket unit, and removes $LISTEN_FDS and the like from the
 * environment.  ERROR_CONFIG: one of them accepts no connections.
 */
int fd_store_take(struct inherited *into, struct error *err);

/* Returns true if the manager keeps descriptors.  $FDSTORE has their maximum;
 * systemd sets it from version 254 on, our units set it for older ones. */
bool fd_store_is_offered(void);

/* Makes the manager keep a duplicate of `fd` over restarts, under that name. */
int fd_store_put(const char *name, int fd, struct error *err);
/* Makes the manager drop the descriptors of that name. */
int fd_store_remove(const char *name, struct error *err);

#endif
