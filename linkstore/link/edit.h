/*
 * edit.h - the next version of a stored link that is changed, deleted or
 * restored (promise 7); link_editor.h writes it.
 *
 * A deletion is an edit to a tombstone, which keeps the code
 * from new owners: in a block until the block ends, elsewhere for
 * links.quarantine.  As long as the tombstone is there, the link can be
 * restored: the tombstone keeps all that the link was, unless it was purged.
 * This holds for links of every strategy.
 */
#ifndef LINKSTORE_LINK_EDIT_H
#define LINKSTORE_LINK_EDIT_H

#include <stdbool.h>
#include <stdint.h>

#include "linkstore/linkstore.h"
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

/* --- for the write of an edit (link_editor.h) ------------------------------
 */

/* A full Redis refuses changes that take memory.  But a link that is to end or
 * to be blocked must not live on, so such changes never count as growth. */
bool link_edit_is_growth(const Shortloop__Link *before,
			 const Shortloop__Link *after);

enum edit_life {
	EDIT_KEEPS_END,
	EDIT_GIVES_LIFE, /* that of link_edit_life_again */
	EDIT_ENDS_LINK,	 /* it becomes a tombstone */
};
enum edit_life link_edit_life(const Shortloop__Link *before,
			      const Shortloop__Link *after,
			      const struct link_class *ttl);

#endif
