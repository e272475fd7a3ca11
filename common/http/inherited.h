/*
 * inherited.h - listening sockets that another process handed to this one: the
 * service manager, or a former process of the same program.
 *
 * They are identified by their addresses.  A listener takes the sockets that
 * are bound to its address; a socket that no listener takes is of a former
 * configuration.  Each has a queue of clients that have connected, which is
 * lost when the last process closes the socket: so none may be forgotten.
 */
#ifndef COMMON_HTTP_INHERITED_H
#define COMMON_HTTP_INHERITED_H

#include <stddef.h>

#include "common/error.h"

#define INHERITED_NAME_MAX 256

struct inherited;

struct inherited *inherited_new(struct error *err);
/* Closes the sockets that were not taken.  NULL accepted. */
void inherited_free(struct inherited *in);

/*
 * Takes over `fd`, also on failure, and sets it close-on-exec and non-blocking.
 * `name` is the name that the giver uses; it is copied, and cut at
 * INHERITED_NAME_MAX.  ERROR_INPUT: it is no stream socket that listens.
 */
int inherited_add(struct inherited *in, int fd, const char *name,
		  struct error *err);

size_t inherited_count(const struct inherited *in); /* not taken yet */

/* Takes a socket that is bound to "host:port", or to a Unix socket's path; the
 * caller owns it.  Returns -1 if there is none (any more). */
int inherited_take(struct inherited *in, const char *address);
int inherited_take_unix(struct inherited *in, const char *path,
			char ret_name[INHERITED_NAME_MAX]);

/* Takes a socket that is left, whatever its address. */
int inherited_take_any(struct inherited *in, char ret_name[INHERITED_NAME_MAX]);

#endif
