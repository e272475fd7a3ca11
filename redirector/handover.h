/*
 * handover.h - a running redirector hands its sockets to the next one, by a
 * Unix socket.
 *
 *	successor                          predecessor
 *	connects, TAKE            ──▶
 *	                          ◀──      SOCKETS, with descriptors, ...; END
 *	makes itself ready to serve        goes on serving
 *	begins to accept
 *	SERVING                   ──▶      accepts no more, drains, ends
 *
 * Both have the same sockets, so that there is no moment without one, and no
 * client that waits at one is lost.  If the successor ends before it says
 * SERVING, the predecessor goes on as if nothing had been.  Both make sure that
 * the other is of the same user, or root.
 */
#ifndef REDIRECTOR_HANDOVER_H
#define REDIRECTOR_HANDOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/error.h"
#include "common/http/inherited.h"
#include "common/log.h"

/* --- the successor -------------------------------------------------------- */

struct predecessor;

/*
 * Asks whoever listens at `path` for its sockets.  *ret is NULL when nobody
 * does.  Of several that ask, one comes after the other, each from the one
 * before it: that may take up to `turn_ms`.  One that ends before it has sent
 * all has sent nothing: no socket of its is added to `into`.  ERROR_BUSY: it
 * does not answer in that time; tried again, it may.  ERROR_PROTOCOL: it is
 * something else than a redirector that this one can succeed.
 */
int predecessor_find(const char *path, int64_t turn_ms, struct inherited *into,
		     struct predecessor **ret, struct error *err);

pid_t predecessor_pid(const struct predecessor *p);

/* Has it drain and end, now that we accept.  That it is gone is no error. */
void predecessor_relieve(struct predecessor *p);

/* One that was not relieved goes on.  NULL accepted. */
void predecessor_free(struct predecessor *p);

/* --- the predecessor ------------------------------------------------------ */

struct handover;

/*
 * Makes all that it takes to wait for a successor at `listening`, in a thread,
 * and to hand it `fds`, which all stay the caller's, open until handover_end.
 * When the successor serves, on_relieved(arg) is called, on the thread.
 */
struct handover *handover_new(int listening, const int *fds, size_t count,
			      void (*on_relieved)(void *arg), void *arg,
			      struct log *log, struct error *err);

/* Begins to wait.  Cannot fail: who is to be relieved is relieved after all
 * that can. */
void handover_begin(struct handover *h);

/* Hands nothing over any more.  True: a successor has the sockets, and serves
 * or is about to. */
bool handover_end(struct handover *h);

/* Ends it first.  NULL accepted. */
void handover_free(struct handover *h);

#endif
