/*
 * edit.h - changing a stored link, and deleting it (promise 7).
 *
 * An edit replaces the record that its caller has read by the next version of
 * it, and only that: never a link that another owner has put there since, never
 * another's edit.  A deletion is an edit to a tombstone, which keeps the code
 * from being anybody's: in a block until the block ends, elsewhere for
 * links.quarantine.  For links of every strategy.
 */
#ifndef LINKSTORE_LINK_EDIT_H
#define LINKSTORE_LINK_EDIT_H

#include <stdint.h>

#include "common/redis/redis.h"
#include "common/redis/redis_async.h"
#include "linkstore/linkstore.h"
#include "linkstore/target.h"
#include "schemas/link.pb-c.h"

/*
 * Fills what the store decides of the next version: link_id, generation,
 * version + 1, created_ms and the life, which with a NULL `ttl` is `before`'s.
 * `after` keeps its other fields; its ttl_class points into the store or into
 * `before`.
 */
void link_edit_prepare(const Shortloop__Link *before,
		       const struct link_class *ttl, Shortloop__Link *after);

/*
 * Fills, once the state of `after` is set, what a blocked link keeps of its
 * life: `left` (ms, DURATION_NEVER), as the look-up of `before` said, or all of
 * a new `ttl`.  A blocked link itself does not end.
 */
void link_edit_keep_life(const Shortloop__Link *before,
			 const struct link_class *ttl, int64_t left,
			 Shortloop__Link *after);

/*
 * Makes the tombstone of a link: what link_edit_prepare fills, and state,
 * owner, account, creator, editor and changed_ms; nothing of where it led.  Its
 * texts are `before`'s and `editor`.
 */
void link_edit_tombstone(const Shortloop__Link *before, const char *editor,
			 uint64_t changed_ms, Shortloop__Link *ret_after);

/*
 * Replaces `before`, as link_lookup has read it, by `after`, as prepared above.
 * `ttl` NULL: the link ends when it would have ended; else it lives that long
 * from now on, the end of its block being raised first when need be, so that a
 * link of class `never` keeps its whole block.  An `after` of state
 * LINK_DELETED is a deletion, whose `ttl` does not count.  One of state
 * LINK_BLOCKED does not end, and neither does its block; one that was blocked
 * and is live again has what life_left_ms of `before` says from now on.
 * Nothing is kept of the arguments.
 *
 * `expires` (ms by Redis' clock, DURATION_NEVER) counts only when err is NULL.
 * ERROR_NOTFOUND: the link is gone, or the code another's.  ERROR_CONFLICT: it
 * has been changed since it was read: read it again.  ERROR_REMOTE, retriable:
 * unknown; the very same edit may be sent again and then counts once.
 */
typedef void link_edited_fn(void *arg, int64_t expires,
			    const struct error *err);
int link_edit_async(struct redis_async *redis, const struct link_target *target,
		    const Shortloop__Link *before, const Shortloop__Link *after,
		    const struct link_class *ttl, link_edited_fn *fn, void *arg,
		    struct error *err);

#endif
