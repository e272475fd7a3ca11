/* change_write.h - the write of a change: the notes on URLs, the charge, and
 * the compare-and-set in Redis, which is sent again when its answer was lost.
 */
#ifndef ALLOCATOR_CHANGE_CHANGE_WRITE_H
#define ALLOCATOR_CHANGE_CHANGE_WRITE_H

#include "allocator/change/change.h"

/* Writes `after` in place of `before`, with what has to be noted and paid
 * before.  Returns -1 if it cannot begin; the change is not freed then. */
int change_write(struct change *c, struct error *err);

/* Sets the notes on the URLs of a link that the change came too late for to the
 * link's present state. */
void change_correct_note(const struct change *c, const Shortloop__Link *link);

/* Sends all writes again whose answer was lost. */
void change_resend_all(struct link_changer *changer);

#endif
