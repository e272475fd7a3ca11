#include "linkstore/link/link_editor.h"

#include "common/clock.h"
#include "common/redis/wire.h"
#include "linkstore/link/edit.h"
#include "linkstore/turn_batches.h"

struct edit_entry {
	struct link_target target;
	uint64_t link_id;
	uint32_t version, generation; /* of the record that was read */
	size_t start, len;	      /* the new record, in the batch's bytes */
	enum edit_life life;
	int64_t life_ms;
	link_edited_fn *fn;
	void *arg;
};

/* The edits that one script may have together. */
struct edit_kind {
	bool is_growth;
	/* On a cluster: they are in the slot of `place`. */
	bool is_bound;
	struct link_target place;
};

struct edit_batch {
	struct turn_batch base;
	struct edit_kind kind;
	struct edit_entry entries[EDIT_BATCH_MAX];
};

/* --- answers -------------------------------------------------------------- */

/* Returns what the script says of edit i. */
static int check_result(const redisReply *reply, size_t i, const char *code,
			int64_t *ret_expires, struct error *err)
{
	const redisReply *element = reply->element[2 * i];

	if (element->type == REDIS_REPLY_ERROR)
		return redis_error_reply(element, err);
	switch (reply_number(reply, 2 * i, -2)) {
	case 1:
		if (reply->element[2 * i + 1]->type != REDIS_REPLY_INTEGER)
			return reply_malformed("edit", err);
		*ret_expires = reply_time(reply, 2 * i + 1);
		return 0;
	case 0:
		return error_set(err, ERROR_NOTFOUND,
				 "link %s is gone, or its code another's",
				 code);
	case -1:
		return error_set(err, ERROR_CONFLICT,
				 "link %s has been changed since it was read",
				 code);
	default:
		return reply_malformed("edit", err);
	}
}

static void answer_edits(struct turn_batch *base, const redisReply *reply,
			 const struct error *failure)
{
	const struct edit_batch *b = (const struct edit_batch *)base;
	struct error malformed, err;

	if (!failure && !reply_is_array(reply, 2 * base->count)) {
		reply_malformed("edit", &malformed);
		failure = &malformed;
	}
	for (size_t i = 0; i < base->count; i++) {
		const struct edit_entry *e = &b->entries[i];
		int64_t expires = 0;

		if (failure)
			e->fn(e->arg, 0, failure);
		else if (check_result(reply, i, e->target.code, &expires, &err))
			e->fn(e->arg, 0, &err);
		else
			e->fn(e->arg, expires, NULL);
	}
}

/* --- batches -------------------------------------------------------------- */

static bool takes_edit(const struct turn_batch *base, const void *about)
{
	const struct edit_kind *a = &((const struct edit_batch *)base)->kind;
	const struct edit_kind *b = about;

	return a->is_growth == b->is_growth && a->is_bound == b->is_bound &&
	       (!a->is_bound || link_targets_share_slot(&a->place, &b->place));
}

static void begin_edits(struct turn_batch *base, const void *about)
{
	((struct edit_batch *)base)->kind = *(const struct edit_kind *)about;
}

static void put_life(struct command *c, const struct edit_entry *e)
{
	switch (e->life) {
	case EDIT_ENDS_LINK:
		command_text(c, "tombstone");
		break;
	case EDIT_GIVES_LIFE:
		command_text(c, "life");
		break;
	case EDIT_KEEPS_END:
		command_text(c, "keep");
		break;
	}
	command_time(c, e->life_ms);
}

static void put_edit(struct command *c, const struct edit_entry *e,
		     const char *records)
{
	command_number(c, e->version);
	command_number(c, e->generation);
	command_arg(c, records + e->start, e->len);
	put_life(c, e);
	if (link_space_has_blocks(e->target.space))
		command_text(c, "marker");
	else if (!command_quarantine(c, &e->target))
		command_text(c, "alone");
}

static void build_edits(const struct turn_batch *base, struct command *c)
{
	const struct edit_batch *b = (const struct edit_batch *)base;

	command_script(c, b->entries[0].target.space,
		       b->kind.is_growth ? SCRIPT_EDIT : SCRIPT_EDIT_SMALL);
	for (size_t i = 0; i < base->count; i++)
		command_link_keys(c, &b->entries[i].target,
				  b->entries[i].link_id);
	for (size_t i = 0; i < base->count; i++)
		put_edit(c, &b->entries[i], base->bytes.data);
}

static const struct turn_batch_type edit_batch_type = {
	.size = sizeof(struct edit_batch),
	.items_max = EDIT_BATCH_MAX,
	.takes = takes_edit,
	.begin = begin_edits,
	.build = build_edits,
	.answer = answer_edits,
};

/* --- edits ---------------------------------------------------------------- */

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

/* Appends the record of the entry. */
static int pack_record(struct edit_entry *e, const Shortloop__Link *link,
		       struct buf *bytes, struct error *err)
{
	char *to;

	e->start = bytes->len;
	e->len = shortloop__link__get_packed_size(link);
	to = buf_reserve(bytes, e->len);
	if (!to) {
		bytes->failed = false;
		return error_set_nomem(err);
	}
	bytes->len += shortloop__link__pack(link, (uint8_t *)to);
	return 0;
}

/* Returns how long the link lives from now on, if the edit decides it. */
static int64_t life_of_edit(enum edit_life life,
			    const struct link_target *target,
			    const Shortloop__Link *before,
			    const struct link_class *ttl)
{
	switch (life) {
	case EDIT_ENDS_LINK:
		return linkstore_config(target->space->store)->quarantine;
	case EDIT_GIVES_LIFE:
		return link_edit_life_again(before, ttl);
	case EDIT_KEEPS_END:
		break;
	}
	return 0;
}

/* --- interface ------------------------------------------------------------ */

/* An editor is its batches, and nothing besides: see link_writer.c. */
static struct turn_batches *batches_of(struct link_editor *e)
{
	return (struct turn_batches *)e;
}

int link_editor_edit(struct link_editor *editor,
		     const struct link_target *target,
		     const Shortloop__Link *before,
		     const Shortloop__Link *after, const struct link_class *ttl,
		     link_edited_fn *fn, void *arg, struct error *err)
{
	struct redis_async *redis = turn_batches_redis(batches_of(editor));
	const struct edit_kind kind = {
		.is_growth = link_edit_is_growth(before, after),
		.is_bound = redis_async_keeps_slots_apart(redis),
		.place = *target,
	};
	struct turn_batch *base;
	struct edit_entry *e;

	if (check_next_version(target, before, after, err) ||
	    redis_async_check_room(redis, err))
		return -1;
	base = turn_batches_find(batches_of(editor), &kind, err);
	if (!base)
		return -1;
	e = &((struct edit_batch *)base)->entries[base->count];
	if (pack_record(e, after, &base->bytes, err))
		return -1;
	e->target = *target;
	e->link_id = before->link_id;
	e->version = before->version;
	e->generation = before->generation;
	e->life = link_edit_life(before, after, ttl);
	e->life_ms = life_of_edit(e->life, target, before, ttl);
	e->fn = fn;
	e->arg = arg;
	turn_batch_added(base);
	return 0;
}

struct link_editor *
link_editor_new(struct loop *loop, struct redis_async *redis, struct error *err)
{
	return (struct link_editor *)turn_batches_new(loop, redis,
						      &edit_batch_type, err);
}

void link_editor_free(struct link_editor *e)
{
	turn_batches_free(batches_of(e));
}
