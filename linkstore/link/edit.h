/*
 * edit.h - changes a stored link, and deletes it (promise 7).
 *
 * An edit replaces the record that its caller has read by its next version, and
 * nothing else: never a link that another owner has put there since, never
 * another edit.  A deletion is an edit to a tombstone, which keeps the code
 * from new owners: in a block until the block ends, elsewhere for
 * links.quarantine.  As long as the tombstone is there, the link can be
 * restored: the tombstone keeps all that the link was, unless it was purged.
 * This holds for links of every strategy.
 */
#ifndef LINKSTORE_LINK_EDIT_H
#define LINKSTORE_LINK_EDIT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/redis/redis.h"
#include "common/redis/redis_async.h"
#include "linkstore/linkstore.h"
#include "linkstore/target.h"
#include "schemas/link.pb-c.h"

/*
 * Fills the fields of the next version that the store decides: link_id,
 * generation, version + 1, created_ms and the life, which is `before`'s if
 * `ttl` is NULL.  `after` keeps its other fields; its ttl_class points into the
 * store or into `before`.
 */
void link_edit_prepare(const Shortloop__Link *before,
		       const struct link_class *ttl, Shortloop__Link *after);

/*
 * Call it when the state of `after` is set.  Fills the life that a blocked or
 * deleted link keeps: `left` (ms, DURATION_NEVER), from the look-up of
 * `before`, or all of a new `ttl`.  A blocked link itself does not end.
 */
void link_edit_keep_life(const Shortloop__Link *before,
			 const struct link_class *ttl, int64_t left,
			 Shortloop__Link *after);

/* Returns the life of a link with a new `ttl` (NULL: none), or of a blocked
 * link that is let go, in ms from now on; DURATION_NEVER. */
int64_t link_edit_life_again(const Shortloop__Link *before,
			     const struct link_class *ttl);

/* Returns whether the link has that ttl already; NULL: no other is wanted. */
bool link_edit_keeps_ttl(const Shortloop__Link *before,
			 const struct link_class *ttl);

/*
 * The following fill all of the next version but its editor and the time of the
 * change, which the caller sets.  Its texts are `before`'s.
 *
 * link_edit_delete makes the tombstone of a link that can be restored; `left`
 * is the link's remaining life (ms, DURATION_NEVER).  link_edit_purge makes the
 * tombstone that does not say where the link led: it keeps who made the link
 * and whose it was; `before` may be a tombstone.  link_edit_restore makes the
 * link of a tombstone, for which link_edit_may_restore returns true, in the
 * state in which it was deleted.
 */
void link_edit_delete(const Shortloop__Link *before, int64_t left,
		      Shortloop__Link *ret_after);
void link_edit_purge(const Shortloop__Link *before, Shortloop__Link *ret_after);
bool link_edit_may_restore(const Shortloop__Link *link);
void link_edit_restore(const Shortloop__Link *before,
		       Shortloop__Link *ret_after);

/*
 * Replaces `before`, as link_lookup has read it, by `after`, prepared as above.
 * If `ttl` is NULL, the link keeps its end; otherwise it lives that long from
 * now on, and the end of its block is raised first if needed, so that a link of
 * class `never` keeps its whole block.  An `after` of state LINK_DELETED is a
 * deletion, for which `ttl` is ignored; if `before` is deleted, too, the
 * tombstone keeps its end.  An `after` of state LINK_BLOCKED does not end, and
 * neither does its block.  A link that was blocked or deleted and is live or
 * paused again has the life_left_ms of `before` from now on.  No argument is
 * kept.
 *
 * `expires` (ms by Redis' clock, DURATION_NEVER) is valid if err is NULL.
 * ERROR_NOTFOUND: the link is gone, or the code has another owner.
 * ERROR_CONFLICT: it has changed since it was read: read it again.
 * ERROR_REMOTE, retriable: the result is unknown; the same edit may be sent
 * again and then counts once.
 */
typedef void link_edited_fn(void *arg, int64_t expires,
			    const struct error *err);
int link_edit_async(struct redis_async *redis, const struct link_target *target,
		    const Shortloop__Link *before, const Shortloop__Link *after,
		    const struct link_class *ttl, link_edited_fn *fn, void *arg,
		    struct error *err);

#endif
