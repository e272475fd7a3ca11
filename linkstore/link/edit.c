#include "linkstore/link/edit.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/drop_const.h"
#include "linkstore/async_call.h"
#include "linkstore/record_head.h"

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

/* A full Redis refuses changes that take memory.  But a link that is to end or
 * to be blocked must not live on, so such changes never count as growth. */
static bool edit_is_growth(const Shortloop__Link *before,
			   const Shortloop__Link *after)
{
	return !keeps_life(after) &&
	       measure_bare_record(after) > measure_bare_record(before);
}

/* --- command -------------------------------------------------------------- */

static int check_next_version(const struct link_target *target,
			      const Shortloop__Link *before,
			      const Shortloop__Link *after, struct error *err)
{
	if (after->link_id == before->link_id &&
	    after->generation == before->generation &&
	    after->version == before->version + 1)
		return 0;
	return error_set(err, ERROR_INPUT,
			 "this is not the next version of link %s",
			 target->code);
}

int64_t link_edit_life_again(const Shortloop__Link *before,
			     const struct link_class *ttl)
{
	uint64_t ms =
		before->life_left_ms ? before->life_left_ms : before->ttl_ms;

	if (ttl)
		return ttl->ttl;
	return ms ? (int64_t)ms : DURATION_NEVER;
}

static void put_life(struct command *c, const struct link_target *target,
		     const Shortloop__Link *before,
		     const Shortloop__Link *after, const struct link_class *ttl)
{
	const struct links_config *config =
		linkstore_config(target->space->store);
	bool was_deleted = before->state == SHORTLOOP__LINK_STATE__LINK_DELETED;

	if (after->state == SHORTLOOP__LINK_STATE__LINK_DELETED &&
	    !was_deleted) {
		command_text(c, "tombstone");
		command_time(c, config->quarantine);
	} else if (ttl || (keeps_life(before) && !keeps_life(after))) {
		command_text(c, "life");
		command_time(c, link_edit_life_again(before, ttl));
	} else {
		command_text(c, "keep");
		command_time(c, 0);
	}
}

static int build_edit_command(struct command *c,
			      const struct link_target *target,
			      const Shortloop__Link *before,
			      const Shortloop__Link *after,
			      const struct link_class *ttl, struct error *err)
{
	size_t len = shortloop__link__get_packed_size(after);
	unsigned char head[RECORD_HEAD];
	uint8_t *record;

	if (check_next_version(target, before, after, err))
		return -1;
	record = malloc(len);
	if (!record)
		return error_set_nomem(err);
	shortloop__link__pack(after, record);
	record_head(before->link_id, head);
	command_script(c, target->space,
		       edit_is_growth(before, after) ? SCRIPT_EDIT
						     : SCRIPT_EDIT_SMALL);
	command_link_keys(c, target, before->link_id);
	command_arg(c, head, sizeof(head));
	command_number(c, before->version);
	command_number(c, before->generation);
	command_arg(c, record, len);
	put_life(c, target, before, after, ttl);
	command_quarantine(c, target);
	free(record);
	return 0;
}

static int parse_edit_reply(const redisReply *reply, const void *about,
			    void *ret_expires, struct error *err)
{
	const struct link_target *target = about;

	if (!reply_is_array(reply, 1))
		return reply_malformed("edit", err);
	switch (reply_number(reply, 0, -2)) {
	case 1:
		if (!reply_is_array(reply, 2))
			return reply_malformed("edit", err);
		*(int64_t *)ret_expires = reply_time(reply, 1);
		return 0;
	case 0:
		return error_set(err, ERROR_NOTFOUND,
				 "link %s is gone, or its code another's",
				 target->code);
	case -1:
		return error_set(err, ERROR_CONFLICT,
				 "link %s has been changed since it was read",
				 target->code);
	default:
		return reply_malformed("edit", err);
	}
}

static const struct async_call_type edit_call = {
	.about_size = sizeof(struct link_target),
	.value_size = sizeof(int64_t),
	.parse = parse_edit_reply,
	.deliver = async_call_deliver_number,
};

int link_edit_async(struct redis_async *redis, const struct link_target *target,
		    const Shortloop__Link *before, const Shortloop__Link *after,
		    const struct link_class *ttl, link_edited_fn *fn, void *arg,
		    struct error *err)
{
	struct command c;

	if (build_edit_command(&c, target, before, after, ttl, err))
		return -1;
	return async_call_send(&c, redis, &edit_call, target,
			       (async_call_fn *)fn, arg, err);
}
