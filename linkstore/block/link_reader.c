#include "linkstore/block/link_reader.h"

#include "linkstore/turn_batches.h"

enum {
	VALUES = 3 /* of a link, in the answer */
};

struct read_entry {
	struct link_target target;
	link_lookup_fn *fn;
	void *arg;
};

struct read_batch {
	struct turn_batch base;
	bool is_bound; /* on a cluster: all are in the slot of the first */
	struct read_entry entries[READ_BATCH_MAX];
};

/* --- answers -------------------------------------------------------------- */

static void answer_look_up(const struct read_entry *e, const redisReply *reply,
			   size_t i)
{
	struct link_answer answer = {.link = NULL};
	const redisReply *const *values =
		(const redisReply *const *)(reply->element + VALUES * i);
	struct error err;

	if (values[1]->type != REDIS_REPLY_INTEGER) {
		reply_malformed("look_up", &err);
		e->fn(e->arg, NULL, &err);
	} else if (link_lookup_evaluate(&e->target, values[0], values[2],
					values[1]->integer, &answer, &err)) {
		e->fn(e->arg, NULL, &err);
	} else {
		e->fn(e->arg, &answer, NULL);
		link_lookup_release(&answer);
	}
}

static void answer_look_ups(struct turn_batch *base, const redisReply *reply,
			    const struct error *failure)
{
	const struct read_batch *b = (const struct read_batch *)base;
	struct error malformed;

	if (!failure && !reply_is_array(reply, VALUES * base->count)) {
		reply_malformed("look_up", &malformed);
		failure = &malformed;
	}
	for (size_t i = 0; i < base->count; i++) {
		if (failure)
			b->entries[i].fn(b->entries[i].arg, NULL, failure);
		else
			answer_look_up(&b->entries[i], reply, i);
	}
}

/* --- batches -------------------------------------------------------------- */

/* The batch of a look-up; on a cluster, it is in the slot of `place`. */
struct read_kind {
	bool is_bound;
	const struct link_target *place;
};

static bool takes_look_up(const struct turn_batch *base, const void *about)
{
	const struct read_batch *b = (const struct read_batch *)base;
	const struct read_kind *kind = about;

	return b->is_bound == kind->is_bound &&
	       (!b->is_bound || base->count == 0 ||
		link_targets_share_slot(&b->entries[0].target, kind->place));
}

static void begin_look_ups(struct turn_batch *base, const void *about)
{
	((struct read_batch *)base)->is_bound =
		((const struct read_kind *)about)->is_bound;
}

static void build_look_ups(const struct turn_batch *base, struct command *c)
{
	const struct read_batch *b = (const struct read_batch *)base;

	command_script(c, b->entries[0].target.space, SCRIPT_LOOK_UP);
	for (size_t i = 0; i < base->count; i++) {
		const struct link_target *t = &b->entries[i].target;

		command_target_key(c, t);
		if (link_space_has_blocks(t->space))
			command_marker_key(c, t->space, t->block);
		else
			command_target_key(c, t);
	}
}

static const struct turn_batch_type read_batch_type = {
	.size = sizeof(struct read_batch),
	.items_max = READ_BATCH_MAX,
	.takes = takes_look_up,
	.begin = begin_look_ups,
	.build = build_look_ups,
	.answer = answer_look_ups,
};

/* --- interface ------------------------------------------------------------ */

/* A reader is its batches, and nothing besides: see link_writer.c. */
static struct turn_batches *batches_of(struct link_reader *r)
{
	return (struct turn_batches *)r;
}

int link_reader_look_up(struct link_reader *r, const struct link_target *target,
			link_lookup_fn *fn, void *arg, struct error *err)
{
	struct redis_async *redis = turn_batches_redis(batches_of(r));
	const struct read_kind kind = {redis_async_keeps_slots_apart(redis),
				       target};
	struct turn_batch *base;
	struct read_entry *e;

	if (redis_async_check_room(redis, err))
		return -1;
	base = turn_batches_find(batches_of(r), &kind, err);
	if (!base)
		return -1;
	e = &((struct read_batch *)base)->entries[base->count];
	e->target = *target;
	e->fn = fn;
	e->arg = arg;
	turn_batch_added(base);
	return 0;
}

struct link_reader *
link_reader_new(struct loop *loop, struct redis_async *redis, struct error *err)
{
	return (struct link_reader *)turn_batches_new(loop, redis,
						      &read_batch_type, err);
}

void link_reader_free(struct link_reader *r)
{
	turn_batches_free(batches_of(r));
}
