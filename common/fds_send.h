#ifndef COMMON_FDS_SEND_H
#define COMMON_FDS_SEND_H

#include <stddef.h>
#include <sys/types.h>

/* The kernel's maximum for one message (SCM_MAX_FD of unix(7)). */
#define FDS_SEND_MAX 253

/*
 * Sends `len` bytes on the connected Unix socket `to`, and with them the
 * `count` descriptors of `fds`, at most FDS_SEND_MAX, which the sender keeps as
 * well.  Returns what sendmsg(2) returns, with errno; a peer that has closed
 * raises no SIGPIPE.
 */
ssize_t fds_send(int to, const void *bytes, size_t len, const int *fds,
		 size_t count);

#endif
