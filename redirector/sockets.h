/*
 * sockets.h - all sockets that a redirector listens on: those of its port, the
 * Unix socket, the admin port, and the one for its successor.
 *
 * What a former process had, at the addresses of the present configuration, is
 * taken over with the clients that wait there; the rest is made.  Of the port
 * there is a socket for each thread.  If more were inherited, since there were
 * more threads, all threads accept at the others: one that was closed would
 * reset those whom the kernel gave to it at that moment.  If fewer were, the
 * missing ones are made, or where the port cannot be bound a second time (a
 * socket unit without ReusePort=) all threads accept at those there are.
 */
#ifndef REDIRECTOR_SOCKETS_H
#define REDIRECTOR_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"
#include "common/http/inherited.h"
#include "redirector/redirector_config.h"

/* What begins the names of sockets that a redirector has made, rather than a
 * socket unit. */
#define SOCKETS_NAME "redirector-"

struct sockets;

/* Takes what it needs of `in`, and the rest as leftovers. */
struct sockets *sockets_new(const struct redirector_settings *settings,
			    size_t threads, struct inherited *in,
			    struct error *err);
/* After the listeners are gone.  NULL accepted. */
void sockets_free(struct sockets *s);

/* The port's socket of a thread, which the caller takes over; -1: it has none
 * of its own. */
int sockets_take_own(struct sockets *s, size_t thread);
/* The admin port's, likewise; -1: there is to be none. */
int sockets_take_admin(struct sockets *s);

/* Those at which all threads accept.  Returns how many. */
size_t sockets_shared(const struct sockets *s, const int **ret_fds);

/* Those of addresses that are not in the configuration any more: who waits
 * there is to be accepted, and the sockets closed. */
size_t sockets_leftover(const struct sockets *s, const int **ret_fds);
void sockets_close_leftover(struct sockets *s);

/* Where a successor asks for them; -1: nowhere. */
int sockets_handover(const struct sockets *s);
/* All of them, also those that were taken, while they are open. */
size_t sockets_all(const struct sockets *s, const int **ret_fds);

/* Has the service manager keep those that were made, or all of them, which it
 * does not mind. */
int sockets_store(const struct sockets *s, bool all, struct error *err);
/* Was there one to be made? */
bool sockets_are_all_inherited(const struct sockets *s);

/* The Unix sockets' files are removed: nobody else connects.  Not those of a
 * socket unit's, nor of sockets that were disowned. */
void sockets_unlink(struct sockets *s);
/* Another process has the Unix sockets, or will: their files stay. */
void sockets_disown(struct sockets *s);
/* After the hand-over, and disowned: who asks is the other process' to answer,
 * and finds nobody when that is killed. */
void sockets_close_handover(struct sockets *s);

#endif
