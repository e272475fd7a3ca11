/*
 * link_editor.h - changes, deletes and restores stored links: one script for
 * many edits of one loop turn (promise 7).
 *
 * An edit replaces the record that its caller has read by its next version, and
 * nothing else: never a link that another owner has put there since, never
 * another edit.  Each edit of a script has its own answer.
 *
 * A script has edits of any links.  On a Redis Cluster, where all its keys have
 * to be in one slot, it has edits of one block, or of one link without a block.
 * Edits that make a record longer have scripts of their own: only these are
 * refused by a Redis that is full.
 */
#ifndef LINKSTORE_LINK_LINK_EDITOR_H
#define LINKSTORE_LINK_LINK_EDITOR_H

#include <stdint.h>

#include "common/loop/loop.h"
#include "common/redis/redis_async.h"
#include "linkstore/linkstore.h"
#include "linkstore/target.h"
#include "schemas/link.pb-c.h"

/* Edits per script.  Meanwhile Redis answers no other client. */
#define EDIT_BATCH_MAX 64

/*
 * `expires` (ms by Redis' clock, DURATION_NEVER) is valid if err is NULL.
 * ERROR_NOTFOUND: the link is gone, or the code has another owner.
 * ERROR_CONFLICT: it has changed since it was read: read it again.
 * ERROR_REMOTE, retriable: the result is unknown; the same edit may be sent
 * again and then counts once.
 */
typedef void link_edited_fn(void *arg, int64_t expires,
			    const struct error *err);

struct link_editor;

/* Belongs to the loop's thread; must not outlive `redis` or the loop. */
struct link_editor *link_editor_new(struct loop *loop,
				    struct redis_async *redis,
				    struct error *err);
/* Edits that were not sent get their callback with an error; the callback must
 * not queue them again. */
void link_editor_free(struct link_editor *e); /* NULL accepted */

/*
 * Queues an edit for the end of this loop turn, or until the script is full: it
 * replaces `before`, as link_lookup has read it, by `after`, prepared as in
 * edit.h.  All arguments are copied.  If this returns 0, the callback is called
 * exactly once, and never before it returns.  Otherwise nothing was sent.
 *
 * If `ttl` is NULL, the link keeps its end; otherwise it lives that long from
 * now on, and the end of its block is raised first if needed, so that a link of
 * class `never` keeps its whole block.  An `after` of state LINK_DELETED is a
 * deletion, for which `ttl` is ignored; if `before` is deleted, too, the
 * tombstone keeps its end.  An `after` of state LINK_BLOCKED does not end, and
 * neither does its block.  A link that was blocked or deleted and is live or
 * paused again has the life_left_ms of `before` from now on.
 */
int link_editor_edit(struct link_editor *e, const struct link_target *target,
		     const Shortloop__Link *before,
		     const Shortloop__Link *after, const struct link_class *ttl,
		     link_edited_fn *fn, void *arg, struct error *err);

#endif
