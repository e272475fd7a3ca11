/*
 * sockets.h - all sockets that a redirector listens on: those of its port, the
 * Unix socket, the admin port, and the one for its successor.
 *
 * Sockets of a former process, at the addresses of the present configuration,
 * are taken over with the clients that wait there; missing ones are made.  The
 * port has a socket for each thread.  If more were inherited, since the former
 * process had more threads, all threads accept at the extra ones: closing one
 * would reset clients that the kernel assigns to it at that moment.  If fewer
 * were inherited, the missing ones are made; if the port cannot be bound a
 * second time (a socket unit without ReusePort=), all threads accept at those
 * that exist.
 */
#ifndef REDIRECTOR_HANDOVER_SOCKETS_H
#define REDIRECTOR_HANDOVER_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"
#include "common/http/inherited.h"
#include "redirector/redirector_config.h"

/* Prefix of names of sockets that a redirector has made, rather than a socket
 * unit. */
#define SOCKETS_NAME "redirector-"

struct sockets;

/* Takes the sockets that it needs out of `in`, and keeps the rest as
 * leftovers. */
struct sockets *sockets_new(const struct redirector_settings *settings,
			    size_t threads, struct inherited *in,
			    struct error *err);
/* Called after the listeners are gone.  NULL accepted. */
void sockets_free(struct sockets *s);

/* Returns the port's socket for a thread, which the caller then owns; -1: the
 * thread has none of its own. */
int sockets_take_own(struct sockets *s, size_t thread);
/* Returns the socket of the admin port, which the caller then owns; -1:
 * none. */
int sockets_take_admin(struct sockets *s);

/* Returns the number of sockets at which all threads accept, and sets
 * *ret_fds. */
size_t sockets_shared(const struct sockets *s, const int **ret_fds);

/* The same for sockets at addresses that are not in the configuration any more:
 * the caller accepts the clients that wait there, and then closes the
 * sockets. */
size_t sockets_leftover(const struct sockets *s, const int **ret_fds);
void sockets_close_leftover(struct sockets *s);

/* Returns the socket at which a successor connects; -1: none. */
int sockets_handover(const struct sockets *s);
/* Returns all open sockets, including those that were taken. */
size_t sockets_all(const struct sockets *s, const int **ret_fds);

/* Stores the sockets that were made in the service manager, or all of them:
 * storing one twice does no harm. */
int sockets_store(const struct sockets *s, bool all, struct error *err);
/* True if no socket had to be made. */
bool sockets_are_all_inherited(const struct sockets *s);

/* Removes the files of the Unix sockets, so that no client can connect any
 * more.  Keeps those of a socket unit, and of sockets that were disowned. */
void sockets_unlink(struct sockets *s);
/* Called when another process has the Unix sockets, or will: their files
 * stay. */
void sockets_disown(struct sockets *s);
/* Called after the hand-over and sockets_disown: the other process answers new
 * successors; if it is killed, they find that no process listens. */
void sockets_close_handover(struct sockets *s);

#endif
