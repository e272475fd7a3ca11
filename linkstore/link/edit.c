#include "linkstore/link/edit.h"

#include <string.h>

#include "common/clock.h"
#include "common/drop_const.h"

void link_edit_prepare(const Shortloop__Link *before,
		       const struct link_class *ttl, Shortloop__Link *after)
{
	after->link_id = before->link_id;
	after->generation = before->generation;
	after->version = before->version + 1;
	after->created_ms = before->created_ms;
	after->ttl_class = ttl ? drop_const(ttl->name) : before->ttl_class;
	after->ttl_ms = before->ttl_ms;
	if (ttl)
		after->ttl_ms =
			ttl->ttl == DURATION_NEVER ? 0 : (uint64_t)ttl->ttl;
}

/* Returns whether a link of this state keeps, beside the end of its record, the
 * life that it had. */
static bool keeps_life(const Shortloop__Link *link)
{
	return link->state == SHORTLOOP__LINK_STATE__LINK_BLOCKED ||
	       link->state == SHORTLOOP__LINK_STATE__LINK_DELETED;
}

void link_edit_keep_life(const Shortloop__Link *before,
			 const struct link_class *ttl, int64_t left,
			 Shortloop__Link *after)
{
	bool ends = left != DURATION_NEVER && left > 0;

	if (!keeps_life(after) || ttl)
		after->life_left_ms = 0;
	else if (keeps_life(before))
		after->life_left_ms = before->life_left_ms;
	else
		after->life_left_ms = ends ? (uint64_t)left : 0;
}

bool link_edit_keeps_ttl(const Shortloop__Link *before,
			 const struct link_class *ttl)
{
	return !ttl ||
	       (!strcmp(before->ttl_class, ttl->name) &&
		before->ttl_ms ==
			(ttl->ttl == DURATION_NEVER ? 0 : (uint64_t)ttl->ttl));
}

/* --- deletion and restore ------------------------------------------------- */

void link_edit_delete(const Shortloop__Link *before, int64_t left,
		      Shortloop__Link *ret_after)
{
	*ret_after = *before;
	link_edit_prepare(before, NULL, ret_after);
	ret_after->state = SHORTLOOP__LINK_STATE__LINK_DELETED;
	ret_after->former_state = before->state;
	link_edit_keep_life(before, NULL, left, ret_after);
}

void link_edit_purge(const Shortloop__Link *before, Shortloop__Link *ret_after)
{
	shortloop__link__init(ret_after);
	link_edit_prepare(before, NULL, ret_after);
	ret_after->state = SHORTLOOP__LINK_STATE__LINK_DELETED;
	ret_after->owner = before->owner;
	ret_after->account = before->account;
	ret_after->creator = before->creator;
	ret_after->source = before->source;
}

bool link_edit_may_restore(const Shortloop__Link *link)
{
	return link->state == SHORTLOOP__LINK_STATE__LINK_DELETED && *link->url;
}

void link_edit_restore(const Shortloop__Link *before,
		       Shortloop__Link *ret_after)
{
	*ret_after = *before;
	link_edit_prepare(before, NULL, ret_after);
	ret_after->state = before->former_state;
	ret_after->former_state = SHORTLOOP__LINK_STATE__LINK_LIVE;
	link_edit_keep_life(before, NULL, 0, ret_after);
}

/* --- size ----------------------------------------------------------------- */

/* Returns the size of a record without the fields that every change adds once
 * or that are bounded: maker, time, state and life. */
static size_t measure_bare_record(const Shortloop__Link *link)
{
	Shortloop__Link bare = *link;

	bare.editor = drop_const("");
	bare.changed_ms = 0;
	bare.version = 0;
	bare.ttl_class = drop_const("");
	bare.ttl_ms = 0;
	bare.life_left_ms = 0;
	bare.state = bare.former_state = SHORTLOOP__LINK_STATE__LINK_LIVE;
	return shortloop__link__get_packed_size(&bare);
}

bool link_edit_is_growth(const Shortloop__Link *before,
			 const Shortloop__Link *after)
{
	return !keeps_life(after) &&
	       measure_bare_record(after) > measure_bare_record(before);
}

/* --- life ----------------------------------------------------------------- */

int64_t link_edit_life_again(const Shortloop__Link *before,
			     const struct link_class *ttl)
{
	uint64_t ms =
		before->life_left_ms ? before->life_left_ms : before->ttl_ms;

	if (ttl)
		return ttl->ttl;
	return ms ? (int64_t)ms : DURATION_NEVER;
}

enum edit_life link_edit_life(const Shortloop__Link *before,
			      const Shortloop__Link *after,
			      const struct link_class *ttl)
{
	bool was_deleted = before->state == SHORTLOOP__LINK_STATE__LINK_DELETED;

	if (after->state == SHORTLOOP__LINK_STATE__LINK_DELETED && !was_deleted)
		return EDIT_ENDS_LINK;
	if (ttl || (keeps_life(before) && !keeps_life(after)))
		return EDIT_GIVES_LIFE;
	return EDIT_KEEPS_END;
}
