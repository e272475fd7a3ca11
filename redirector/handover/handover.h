/*
 * handover.h - a running redirector hands its sockets to the next one, through
 * a Unix socket.
 *
 *	successor                          predecessor
 *	connects, TAKE            ──▶
 *	                          ◀──      SOCKETS, with descriptors, ...; END
 *	makes itself ready to serve        goes on serving
 *	begins to accept
 *	SERVING                   ──▶      accepts no more, drains, ends
 *
 * Both processes have the same sockets, so there is always a process that
 * listens, and no client that waits at a socket is lost.  If the successor ends
 * before it sends SERVING, the predecessor goes on as before.  Each checks that
 * the other runs as the same user, or as root.
 */
#ifndef REDIRECTOR_HANDOVER_HANDOVER_H
#define REDIRECTOR_HANDOVER_HANDOVER_H

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
 * Requests the sockets of the process that listens at `path`.  *ret is NULL
 * when no process listens there.  If several processes request them, each gets
 * them from the one before it, in turn: that may take up to `turn_ms`.  If a
 * predecessor ends before it has sent all, nothing is taken: no socket of it is
 * added to `into`.  ERROR_BUSY: it does not answer in that time; a later try
 * may succeed.  ERROR_PROTOCOL: it is no redirector that this one can succeed.
 */
int predecessor_find(const char *path, int64_t turn_ms, struct inherited *into,
		     struct predecessor **ret, struct error *err);

pid_t predecessor_pid(const struct predecessor *p);

/* Makes the predecessor drain and end, now that this process accepts
 * connections.  It is no error if the predecessor is gone. */
void predecessor_relieve(struct predecessor *p);

/* A predecessor that was not relieved goes on.  NULL accepted. */
void predecessor_free(struct predecessor *p);

/* --- the predecessor ------------------------------------------------------ */

struct handover;

/*
 * Prepares all that is needed to wait for a successor at `listening`, in a
 * thread, and to hand it `fds`.  They all belong to the caller, who keeps them
 * open until handover_end.  When the successor serves, on_relieved(arg) is
 * called, on the thread.
 */
struct handover *handover_new(int listening, const int *fds, size_t count,
			      void (*on_relieved)(void *arg), void *arg,
			      struct log *log, struct error *err);

/* Begins to wait.  Cannot fail, since a predecessor is relieved after all steps
 * that can. */
void handover_begin(struct handover *h);

/* Stops handing over.  Returns true if a successor has the sockets, and serves
 * or is about to. */
bool handover_end(struct handover *h);

/* Calls handover_end first.  NULL accepted. */
void handover_free(struct handover *h);

#endif
